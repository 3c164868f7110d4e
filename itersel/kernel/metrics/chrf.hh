// chrF as sacrebleu computes it with its default settings (chrF2, characters 1 to 6, no whitespace), for sentences and
// corpora, as a function of sufficient statistics.
//
// A row has three columns for each order: n-grams of the hypothesis (0 where the reference has none of that order), of
// the reference, and matches.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "metrics/ngram_table.hh"
#include "metrics/statistics.hh"

namespace itersel {

constexpr int kChrfOrder = 6;
constexpr std::uint32_t kChrfWidth = 3 * kChrfOrder;

// The F-score in [0, 1] of a row, or of the sums of many.
double chrf(const Statistic* row);
double chrf(const double* sums);

// The spelling (UTF-8) of a word id.
using WordLookup = std::function<std::string_view(std::uint32_t)>;

// Appends the characters of a UTF-8 text except whitespace (as Python's str.split sees it); a byte that is not UTF-8
// counts as U+FFFD.
void append_characters(std::string_view text, std::vector<std::uint32_t>* characters);

// The references of one sentence.
class ChrfReferences {
 public:
  ChrfReferences(const std::vector<std::vector<std::uint32_t>>& references, WordLookup lookup);

  // Writes the row of a hypothesis, against the reference of the highest chrF (the first of equals).
  void count(const std::vector<std::uint32_t>& words, Statistic* row);

 private:
  struct Reference {
    std::size_t length;
    NgramTable ngrams;
  };

  std::vector<std::uint32_t> characters_of(const std::vector<std::uint32_t>& words) const;

  WordLookup lookup_;
  std::vector<Reference> references_;
};

}  // namespace itersel
