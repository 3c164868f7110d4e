#include "decode/shard_decoder.hh"

#include "grammar/grammar.hh"

namespace itersel {

ShardDecoder::ShardDecoder(std::shared_ptr<const Shard> shard, std::shared_ptr<const LanguageModel> model,
                           const SearchOptions& options)
    : weights(shard->lexicon().features.size(), 0.0), shard_(std::move(shard)), options_(options) {
  use(std::move(model));
}

void ShardDecoder::use(std::shared_ptr<const LanguageModel> model) {
  workspace_ = Workspace::make(model.get(), options_);
  model_ = std::move(model);
  if (!model_) return;
  const StringTable& words = shard_->lexicon().words;
  lm_words_.resize(words.size());
  for (std::uint32_t word = 0; word < words.size(); ++word) lm_words_[word] = model_->index(words[word]);
}

bool ShardDecoder::search(std::uint32_t sentence) {
  shard_->pose(sentence, rules_, index_, problem_);
  if (problem_.words.empty()) return false;
  problem_.weights = weights.data();
  problem_.lm_words = model_ ? lm_words_.data() : nullptr;
  workspace_->search(problem_, weights[problem_.features.language_model]);
  return true;
}

void ShardDecoder::translate(std::uint32_t sentence, std::vector<std::uint32_t>& words) {
  words.clear();
  if (search(sentence)) KBestExtractor::best_words(workspace_->graph, problem_, words);
}

void ShardDecoder::extract(std::uint32_t k, bool unique, KBestList& list) {
  if (!problem_.words.empty())
    workspace_->extractor.extract(workspace_->graph, problem_, k, unique, list);
  else
    list.assign(k > 0 ? 1 : 0, Hypothesis());
}

void ShardDecoder::kbest(std::uint32_t sentence, std::uint32_t k, bool unique, KBestList& list) {
  search(sentence);
  extract(k, unique, list);
}

std::string ShardDecoder::rule_text(const DerivationNode& node) const {
  if (node.rule == kNoRule) return "";
  const RuleTable& table = problem_.table_of(node.extra);
  return write_rule(table, shard_->lexicon(), table.rules[node.rule]);
}

}  // namespace itersel
