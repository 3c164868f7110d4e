#include "lm/language_model.hh"

#include <new>
#include <util/exception.hh>

#include "base/error.hh"

namespace itersel {

namespace {

lm::ngram::Config quiet() {
  lm::ngram::Config config;
  config.messages = nullptr;
  config.show_progress = false;
  config.unknown_missing = lm::SILENT;
  return config;
}

constexpr std::size_t kLongestReason = 200;

// What KenLM says, for people: without `lm/model.cc:100 in void lm::… threw … because `…'.` in front of it, on one
// line, and without the bytes of a binary file that it may quote.
std::string reason(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error)) return "its header asks for more memory than there is";
  std::string text = error.what();
  const std::size_t thrown = text.find(" threw ");
  const std::size_t begin = thrown == std::string::npos ? thrown : text.find(".\n", thrown);
  if (begin != std::string::npos) text.erase(0, begin + 2);
  if (text.rfind("first non-empty line was", 0) == 0) return "it does not begin with \\data\\";
  const bool cut = text.size() > kLongestReason;
  if (cut) text.resize(kLongestReason);
  for (char& byte : text)
    if (byte < ' ' || byte > '~') byte = byte == '\n' || byte == '\t' ? ' ' : '?';
  return cut ? text + "..." : text;
}

// After KenLM's own exceptions, or std::bad_alloc for absurd sizes in a header.
[[noreturn]] void refuse(const std::string& name, const std::exception& error) {
  throw InputError(name, "not a readable ARPA or KenLM binary file of order 2 to 6: " + reason(error));
}

}  // namespace

std::shared_ptr<const LanguageModel> LanguageModel::load(const std::string& path, const std::string& name) {
  auto made = std::make_shared<LanguageModel>();
  lm::ngram::Config config = quiet();
  config.load_method = util::LAZY;
  try {
    if (!lm::ngram::RecognizeBinary(path.c_str(), made->type_)) made->type_ = lm::ngram::PROBING;
    made->model_.reset(lm::ngram::LoadVirtual(path.c_str(), config));
  } catch (const std::exception& error) {
    refuse(name, error);
  }
  made->vocabulary_ = &made->model_->BaseVocabulary();
  made->order_ = made->model_->Order();
  return made;
}

void LanguageModel::convert(const std::string& arpa, const std::string& output, const std::string& kind,
                            const std::string& name) {
  lm::ngram::Config config = quiet();
  config.write_mmap = output.c_str();
  config.write_method = lm::ngram::Config::WRITE_AFTER;
  config.building_memory = std::size_t{1} << 28;
  try {
    if (kind == "probing")
      lm::ngram::ProbingModel(arpa.c_str(), config);
    else if (kind == "trie")
      lm::ngram::TrieModel(arpa.c_str(), config);
    else if (kind == "quantised")
      lm::ngram::QuantTrieModel(arpa.c_str(), config);
    else
      throw std::invalid_argument("no kind of binary: " + kind);
  } catch (const std::invalid_argument&) {
    throw;
  } catch (const std::exception& error) {
    refuse(name, error);
  }
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
