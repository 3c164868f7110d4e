// N-best lists of any system, compiled: records in a mapped file, one a list, read in place (itersel/lists/table.py
// writes them). A record is little-endian and a multiple of 8 bytes:
//
//   uint32 n, uint32 nonzeros
//   double metric[n], score[n], value[nonzeros]
//   uint32 end[n], feature[nonzeros]     hypothesis i has the features before end[i] that those before it have not
//   zeros up to a multiple of 8
//
// What lies between records, texts and references, is Python's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "learn/learn.hh"
#include "model/kbest_list.hh"

namespace itersel {

class ListTable {
 public:
  // A view: the memory must outlive the table. List i is the record from offsets[2i] to offsets[2i + 1]; keys name the
  // lists for sampled pairs. Checks every record; what does not fit is an InputError.
  ListTable(const unsigned char* data, std::size_t size, std::vector<std::uint64_t> offsets,
            std::vector<std::uint64_t> keys, std::uint32_t features);

  std::uint32_t size() const { return static_cast<std::uint32_t>(keys_.size()); }
  std::uint32_t features() const { return features_; }
  std::uint64_t key(std::uint32_t list) const { return keys_[list]; }

  // Hypotheses have features and the scores they came with, but no words.
  void read(std::uint32_t list, KBestList& hypotheses, std::vector<double>& metric) const;

  // Which hypothesis the weights (one for each feature) rank first, the earlier one of equals, and its metric.
  struct Best {
    std::uint32_t hypothesis = 0;
    double score = 0, metric = 0;
  };
  static Best best(const KBestList& hypotheses, const std::vector<double>& metric, const std::vector<double>& weights);

 private:
  struct Record;
  Record record(std::uint32_t list) const;
  void check(std::uint32_t list) const;

  const unsigned char* data_;
  std::vector<std::uint64_t> offsets_, keys_;
  std::uint32_t features_;
};

// Learns from some lists of a table in the given order, as an epoch does from a shard's sentences. `epoch` chooses the
// sampled pairs. Adds to best_metric and best_score what the weights ranked first just before they learned from it.
void learn_lists(const ListTable& table, const std::vector<std::uint32_t>& lists, std::uint64_t epoch,
                 const PairOptions& pairs, Learner& learner, const std::vector<double>& weights,
                 LearnStatistics& ranked_first);

}  // namespace itersel
