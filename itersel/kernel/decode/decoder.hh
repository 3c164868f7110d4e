// Decoding sentences with text grammars: weights and language model in, translations with named features out.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "decode/workspace.hh"
#include "grammar/grammar.hh"
#include "grammar/sentence.hh"
#include "lm/language_model.hh"
#include "model/weights.hh"

namespace itersel {

struct DecoderOptions {
  SearchOptions search;
  PassThrough pass_through;
};

struct Translation {
  std::string text;
  double score = 0;
  std::vector<std::pair<std::string, double>> features;  // by name in byte order, no zeros
};

// Safe to use from several threads at once: each call takes a workspace of its own from a pool.
class Decoder {
 public:
  Decoder(std::shared_ptr<const LanguageModel> model, std::shared_ptr<const Weights> weights,
          const DecoderOptions& options)
      : model_(std::move(model)), weights_(std::move(weights)), options_(options) {}

  // The best translation's words; empty for an empty sentence.
  std::string translate(const std::shared_ptr<const Grammar>& grammar, const std::vector<std::string_view>& words);

  // The k best derivations, or derivations with distinct strings, best first.
  std::vector<Translation> kbest(const std::shared_ptr<const Grammar>& grammar,
                                 const std::vector<std::string_view>& words, std::uint32_t k, bool unique);

 private:
  // A grammar's features as weights and its words as language model indices.
  struct Binding {
    std::vector<double> weights;
    std::vector<std::uint32_t> lm_words;
  };
  class Borrowed;
  class Searched;

  Binding bind(const std::shared_ptr<const Grammar>& grammar, const Sentence& sentence);
  std::shared_ptr<const Binding> bind_grammar(const std::shared_ptr<const Grammar>& grammar);

  std::shared_ptr<const LanguageModel> model_;
  std::shared_ptr<const Weights> weights_;
  const DecoderOptions options_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Workspace>> idle_;
  std::weak_ptr<const Grammar> bound_grammar_;  // the last one: a grammar for all sentences is bound once
  std::shared_ptr<const Binding> bound_;
};

}  // namespace itersel
