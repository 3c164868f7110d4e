// The gradient of the soft ramp loss over the sentences of a shard (NAACL 2013 §4): decode, compare with the
// references, add up. Sums and list counts by feature come out, not lists.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "learn/epoch.hh"
#include "learn/soft_ramp.hh"

namespace itersel {

// All fields must be given: Python has the defaults.
struct GradientOptions {
  double cost_scale;                  // a hypothesis costs this times (1 − metric)
  double score_scale;                 // model scores are multiplied by this before they meet costs
  std::vector<std::string> prefixes;  // of the features to differentiate by
  bool extraction_counts;             // find out how often the features' rules were extracted
};

struct GradientStatistics {
  std::uint64_t lists = 0, hypotheses = 0;
  double loss = 0;
};

// Sums over lists, by feature.
class GradientSums {
 public:
  // `wanted` marks the features to add up.
  GradientSums(std::vector<char> wanted, double cost_scale, double score_scale);

  // A feature counts as being in the list if a hypothesis has it. One that all hypotheses have with the same value
  // adds exactly nothing to the gradient.
  void add(const ScoredList& list);

  std::vector<double> gradient;  // negative: the direction in which the loss falls
  std::vector<double> lists;
  // What the list with the largest part in a feature's gradient adds to it, and the number of that list, from 0; of
  // equals, the first.
  std::vector<double> largest;
  std::vector<std::uint32_t> largest_list;
  GradientStatistics statistics;

 private:
  struct Sum {
    std::uint32_t feature, count;
    double value, sum;
    bool varies;
  };

  std::vector<char> wanted_;
  SoftRamp ramp_;
  double score_scale_;
  std::vector<std::uint32_t> place_;   // per feature: in sums_, valid if stamps_ says so
  std::vector<std::uint64_t> stamps_;  // per feature: the list that last had it
  std::vector<Sum> sums_;              // of the list at hand
  std::vector<double> scores_;
};

// Of the features that some list has, ascending by hash.
struct ShardGradient {
  std::vector<std::uint32_t> features;  // the shard's
  std::vector<std::uint64_t> hashes;
  std::vector<double> gradient, lists;
  std::vector<double> extracted;  // 1 where it was not asked for
  std::vector<double> largest;    // as GradientSums has them
  std::vector<std::uint32_t> largest_list;
  GradientStatistics statistics;
  StageSeconds seconds;  // without the time of adding up
};

// Called after every sentence.
using GradientProgress = std::function<void(const GradientStatistics&)>;

// The gradient at the start weights. Of `epoch`, what decodes and scores is used, not what learns.
ShardGradient shard_gradient(std::shared_ptr<const Shard> shard, const std::vector<EpochPart>& parts,
                             const EpochOptions& epoch, const GradientOptions& options, const HashedWeights& start,
                             const GradientProgress& progress = {});

}  // namespace itersel
