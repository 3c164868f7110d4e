// Sentence-level chrF as sacrebleu computes it with its default settings (chrF2, characters 1 to 6, no whitespace).
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "metrics/ngram_table.hh"

namespace itersel {

// The spelling (UTF-8) of a word id.
using WordLookup = std::function<std::string_view(std::uint32_t)>;

// Appends the characters of a UTF-8 text except whitespace (as Python's str.split sees it); a byte that is not UTF-8
// counts as U+FFFD.
void append_characters(std::string_view text, std::vector<std::uint32_t>* characters);

class Chrf {
 public:
  static constexpr int kOrder = 6;
  static constexpr double kBeta = 2;

  Chrf(const std::vector<std::vector<std::uint32_t>>& references, WordLookup lookup);

  // In [0, 1]: the best value over the references; 0 if hypothesis or references are empty.
  double operator()(const std::vector<std::uint32_t>& words);

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
