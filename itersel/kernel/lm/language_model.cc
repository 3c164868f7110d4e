#include "lm/language_model.hh"

#include <util/exception.hh>

#include "base/error.hh"

namespace itersel {

std::shared_ptr<const LanguageModel> LanguageModel::load(const std::string& path, const std::string& name) {
  auto made = std::make_shared<LanguageModel>();
  lm::ngram::Config config;
  config.messages = nullptr;
  config.show_progress = false;
  config.unknown_missing = lm::SILENT;
  try {
    if (!lm::ngram::RecognizeBinary(path.c_str(), made->type_)) made->type_ = lm::ngram::PROBING;
    made->model_.reset(lm::ngram::LoadVirtual(path.c_str(), config));
  } catch (const std::exception& error) {  // KenLM's own, or std::bad_alloc for absurd sizes in a header
    throw InputError(name, std::string("not a readable ARPA or KenLM binary file of order 2 to 6: ") + error.what());
  }
  made->vocabulary_ = &made->model_->BaseVocabulary();
  made->order_ = made->model_->Order();
  return made;
}

double LanguageModel::score(const std::vector<std::string_view>& words) const {
  return visit([&](const auto& model) {
    auto state = model.BeginSentenceState(), next = state;
    double total = 0;
    for (std::string_view word : words) {
      total += model.Score(state, index(word), next);
      state = next;
    }
    return total + model.Score(state, model.GetVocabulary().EndSentence(), next);
  });
}

}  // namespace itersel
