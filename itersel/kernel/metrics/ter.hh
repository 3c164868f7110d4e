// Translation edit rate (Snover et al. 2006) as sacrebleu computes it, with its beam and its limits on shifts, as a
// function of sufficient statistics.
//
// A row has two columns: the edits to the reference that needs the fewest, and the mean length of the references.
#pragma once

#include <cstdint>
#include <vector>

#include "metrics/statistics.hh"

namespace itersel {

constexpr std::uint32_t kTerWidth = 2;

// 1 − TER, so that higher is better; 0 without a reference. It can be negative.
double one_minus_ter(const Statistic* row);
// TER of the sums of many rows; without a reference word, 1 for any edit. Lower is better.
double corpus_ter(const double* sums);

// The references of one sentence. Words are equal if their ids are: case counts.
class TerReferences {
 public:
  explicit TerReferences(std::vector<std::vector<std::uint32_t>> references);

  // Writes the row of a hypothesis. Without references, its words are the edits and the length is 0.
  void count(const std::vector<std::uint32_t>& words, Statistic* row);

 private:
  std::vector<std::vector<std::uint32_t>> references_;
  double mean_length_ = 0;
};

}  // namespace itersel
