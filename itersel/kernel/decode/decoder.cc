#include "decode/decoder.hh"

#include <algorithm>

namespace itersel {

// A workspace on loan from the decoder's pool.
class Decoder::Borrowed {
 public:
  explicit Borrowed(Decoder& decoder) : decoder_(decoder) {
    std::lock_guard<std::mutex> lock(decoder_.mutex_);
    if (!decoder_.idle_.empty()) {
      workspace_ = std::move(decoder_.idle_.back());
      decoder_.idle_.pop_back();
    } else {
      workspace_ = Workspace::make(decoder_.model_.get(), decoder_.options_.search);
    }
  }
  ~Borrowed() {
    std::lock_guard<std::mutex> lock(decoder_.mutex_);
    decoder_.idle_.push_back(std::move(workspace_));
  }
  Workspace* operator->() { return workspace_.get(); }

 private:
  Decoder& decoder_;
  std::unique_ptr<Workspace> workspace_;
};

std::shared_ptr<const Decoder::Binding> Decoder::bind_grammar(const std::shared_ptr<const Grammar>& grammar) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (bound_ && bound_grammar_.lock() == grammar) return bound_;
  }
  auto binding = std::make_shared<Binding>();
  const StringTable &features = grammar->lexicon.features, &words = grammar->lexicon.words;
  binding->weights.resize(features.size());
  for (std::uint32_t id = 0; id < features.size(); ++id) binding->weights[id] = weights_->get(features[id]);
  if (model_) {
    binding->lm_words.resize(words.size());
    for (std::uint32_t id = 0; id < words.size(); ++id) binding->lm_words[id] = model_->index(words[id]);
  }
  std::lock_guard<std::mutex> lock(mutex_);
  bound_grammar_ = grammar;
  bound_ = binding;
  return binding;
}

Decoder::Binding Decoder::bind(const std::shared_ptr<const Grammar>& grammar, const Sentence& sentence) {
  Binding binding = *bind_grammar(grammar);
  for (std::uint32_t id = static_cast<std::uint32_t>(binding.weights.size()); id < sentence.features().size(); ++id)
    binding.weights.push_back(weights_->get(sentence.features()[id]));
  if (model_)
    for (std::uint32_t id = static_cast<std::uint32_t>(binding.lm_words.size()); id < sentence.words().size(); ++id)
      binding.lm_words.push_back(model_->index(sentence.words()[id]));
  return binding;
}

// A sentence with everything its search needs, and the workspace that did the search.
class Decoder::Searched {
 public:
  Searched(Decoder& decoder, const std::shared_ptr<const Grammar>& grammar, const std::vector<std::string_view>& words)
      : sentence(*grammar, words, decoder.options_.pass_through),
        workspace(decoder),
        binding_(decoder.bind(grammar, sentence)) {
    Problem& problem = sentence.problem();
    problem.weights = binding_.weights.data();
    problem.lm_words = decoder.model_ ? binding_.lm_words.data() : nullptr;
    workspace->search(problem, binding_.weights[problem.features.language_model]);
  }

  Sentence sentence;
  Borrowed workspace;

 private:
  Binding binding_;
};

std::string Decoder::translate(const std::shared_ptr<const Grammar>& grammar,
                               const std::vector<std::string_view>& words) {
  if (words.empty()) return "";
  Searched searched(*this, grammar, words);
  std::vector<std::uint32_t> target;
  KBestExtractor::best_words(searched.workspace->graph, searched.sentence.problem(), target);
  return searched.sentence.text(target);
}

std::vector<Translation> Decoder::kbest(const std::shared_ptr<const Grammar>& grammar,
                                        const std::vector<std::string_view>& words, std::uint32_t k, bool unique) {
  std::vector<Translation> translations;
  if (words.empty()) {
    if (k > 0) translations.emplace_back();
    return translations;
  }
  Searched searched(*this, grammar, words);
  const Sentence& sentence = searched.sentence;
  KBestList list;
  searched.workspace->extractor.extract(searched.workspace->graph, searched.sentence.problem(), k, unique, list);
  for (const Hypothesis& hypothesis : list) {
    Translation translation{sentence.text(hypothesis.words), hypothesis.score, {}};
    for (const FeatureValue& feature : hypothesis.features)
      translation.features.emplace_back(sentence.features()[feature.feature], feature.value);
    std::sort(translation.features.begin(), translation.features.end());
    translations.push_back(std::move(translation));
  }
  return translations;
}

}  // namespace itersel
