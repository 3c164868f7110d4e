// What rule extraction is asked for. The result is a function of the index, these options and the sentence alone.
#pragma once

#include <cstddef>
#include <cstdint>

namespace itersel {

// All fields must be given: Python has the defaults.
struct ExtractOptions {
  std::uint32_t max_span;              // words a rule may cover in training, on either side
  std::uint32_t max_symbols;           // words and non-terminals of a source side
  std::uint32_t max_nonterminals;      // 0, 1 or 2
  std::uint32_t max_samples;           // occurrences looked at per source phrase; 0: all
  bool tight;                          // phrases begin and end with aligned words
  std::uint32_t max_rules_per_source;  // keep the most probable; 0: all
  bool phrase_features;                // p(f|e) and a phrase penalty, besides cdec's features
  std::size_t cache_bytes;             // changes speed, never results
};

// Training sentences that must not support a rule: those whose number is `remainder` modulo `modulus`.
struct SentenceFilter {
  std::uint32_t modulus = 0;  // 0: nothing is excluded; kOneSentence: exactly sentence `remainder`
  std::uint32_t remainder = 0;
  static constexpr std::uint32_t kOneSentence = UINT32_MAX;
};

}  // namespace itersel
