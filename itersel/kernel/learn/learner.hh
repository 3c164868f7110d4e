// What a mapper runs on each k-best list: a step over the chosen pairs, with a rate, then a penalty, on a dense weight
// vector (ACL 2012 §4, WMT 2013 §3).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "learn/chooser.hh"
#include "learn/compact_list.hh"
#include "learn/options.hh"
#include "learn/penalty.hh"
#include "learn/rate.hh"
#include "learn/statistics.hh"
#include "learn/step.hh"
#include "learn/weight_average.hh"
#include "lists/scored_list.hh"

namespace itersel {

class Learner {
 public:
  // Reads and updates `weights`, indexed by feature; the vector must outlive the learner and may grow between lists.
  // `lists_before` continues a schedule. An option out of range is an InputError.
  Learner(std::vector<double>* weights, const LearnOptions& options, std::uint64_t lists_before);

  // Learns from the pairs of one list.
  void learn(const ScoredList& list, const std::vector<Pair>& pairs);

  const std::vector<double>& weights() const { return *weights_; }
  const LearnStatistics& statistics() const { return statistics_; }
  // The features that the last list's updates touched, ascending.
  const std::vector<std::uint32_t>& changed() const { return changed_; }
  std::uint64_t count_nonzero() const;
  // The mean, over the lists learned from, of the weights after each; needs options.average and at least one list.
  std::vector<double> average() const;
  // What the rate knows of each feature (Rate::account).
  std::vector<double> account() const { return rate_->account(); }

 private:
  std::vector<double>* weights_;
  bool batch_;
  std::uint64_t lists_seen_;
  std::unique_ptr<Step> step_;
  std::unique_ptr<Rate> rate_;
  std::unique_ptr<Penalty> penalty_;
  const std::vector<double>* factors_;
  std::unique_ptr<WeightAverage> average_;  // null if none is kept
  LearnStatistics statistics_;
  std::vector<std::uint32_t> changed_;
  CompactList compact_;
};

}  // namespace itersel
