// Compiled n-best lists of any system: a mapped file with one record per list, read in place (itersel/lists/table.py
// writes it). A record is little-endian and a multiple of 8 bytes:
//
//   uint32 n, nonzeros, width, 0
//   double metric[n], score[n], value[nonzeros]
//   uint32 end[n], feature[nonzeros]     hypothesis i has the features from end[i − 1] (0 for the first) to end[i]
//   float  statistics[n][width]          sufficient statistics of the metric; width 0: there are none
//   zeros up to a multiple of 8
//
// Only Python reads what lies between the records: texts and references.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lists/scored_list.hh"

namespace itersel {

class ListTable {
 public:
  // A view: the memory must outlive the table. List i is the record from offsets[2i] to offsets[2i + 1]; keys name the
  // lists for sampled pairs. Checks every record; one that does not fit is an InputError.
  ListTable(const unsigned char* data, std::size_t size, std::vector<std::uint64_t> offsets,
            std::vector<std::uint64_t> keys, std::uint32_t features);

  std::uint32_t size() const { return static_cast<std::uint32_t>(keys_.size()); }
  std::uint32_t features() const { return features_; }
  std::uint64_t key(std::uint32_t list) const { return keys_[list]; }

  // Hypotheses have features and the scores they came with, but no words.
  void read(std::uint32_t number, ScoredList& list) const;

  // Which hypothesis the weights (one for each feature) rank first, the earlier one of equals, and its metric.
  struct Best {
    std::uint32_t hypothesis = 0;
    double score = 0, metric = 0;
  };
  static Best best(const ScoredList& list, const std::vector<double>& weights);

 private:
  struct Record;
  Record record(std::uint32_t list) const;
  void check(std::uint32_t list) const;

  const unsigned char* data_;
  std::vector<std::uint64_t> offsets_, keys_;
  std::uint32_t features_;
};

}  // namespace itersel
