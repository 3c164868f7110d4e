// A KenLM model of any kind (ARPA, probing, trie), opened once and shared by all decoders. Binary files are mapped,
// page by page as they are needed, so that processes share them; an ARPA file is read into memory.
#pragma once

#include <cstdint>
#include <lm/model.hh>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace itersel {

class LanguageModel {
 public:
  // Throws InputError; `name` is what the message calls the file.
  static std::shared_ptr<const LanguageModel> load(const std::string& path, const std::string& name);

  // Writes an ARPA file as a binary one: "probing" (fastest), "trie" (smaller) or "quantised" (a trie with values of
  // 8 bits). Throws InputError; `name` is what the message calls the ARPA file.
  static void convert(const std::string& arpa, const std::string& output, const std::string& kind,
                      const std::string& name);

  unsigned order() const { return order_; }
  lm::WordIndex index(std::string_view word) const { return vocabulary_->Index(StringPiece(word.data(), word.size())); }

  // log10 p(words </s> | <s>).
  double score(const std::vector<std::string_view>& words) const;

  // Calls function(model) with the concrete KenLM class.
  template <class Function>
  decltype(auto) visit(Function&& function) const {
    using namespace lm::ngram;
    switch (type_) {
      case REST_PROBING:
        return function(static_cast<const RestProbingModel&>(*model_));
      case TRIE:
        return function(static_cast<const TrieModel&>(*model_));
      case QUANT_TRIE:
        return function(static_cast<const QuantTrieModel&>(*model_));
      case ARRAY_TRIE:
        return function(static_cast<const ArrayTrieModel&>(*model_));
      case QUANT_ARRAY_TRIE:
        return function(static_cast<const QuantArrayTrieModel&>(*model_));
      case PROBING:
        break;
    }
    return function(static_cast<const ProbingModel&>(*model_));
  }

 private:
  std::unique_ptr<const lm::base::Model> model_;
  lm::ngram::ModelType type_ = lm::ngram::PROBING;
  const lm::base::Vocabulary* vocabulary_ = nullptr;
  unsigned order_ = 0;
};

}  // namespace itersel
