// What the search needs of one sentence: its words, the rules that match, the decoder's own rules, and the weights.
#pragma once

#include <cstdint>
#include <vector>

#include "grammar/rules.hh"
#include "grammar/source_index.hh"

namespace itersel {

// cdec's WordPenalty per target word: -log10(e).
constexpr double kWordPenalty = -0.434294482;

struct ModelFeatures {  // ids of the features the decoder computes itself
  std::uint32_t word_penalty, language_model, unknown_words;
};

struct Problem {
  const RuleTable* table = nullptr;
  const SourceIndex* index = nullptr;
  const RuleTable* extra = nullptr;             // holds the pass-through and glue rules
  std::vector<std::uint32_t> words;             // source word ids
  std::vector<std::uint32_t> pass_through;      // per position a rule of `extra`, or kNoRule
  bool pass_through_all = false;                // also words that a rule of another label translates
  std::uint32_t glue_first = 0, glue_next = 0;  // S → X and S → S X, rules of `extra`
  std::uint32_t goal = 0, default_nonterminal = 0;
  ModelFeatures features{};
  const double* weights = nullptr;          // by feature id
  const std::uint32_t* lm_words = nullptr;  // language model index by word id; null without a language model

  const RuleTable& table_of(bool is_extra) const { return is_extra ? *extra : *table; }
};

}  // namespace itersel
