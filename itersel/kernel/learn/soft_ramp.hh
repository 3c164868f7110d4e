// The soft ramp loss of a list (Gimpel & Smith 2012, ramp 3; NAACL 2013 §6). With model scores s and costs c it is
//
//   −log Σ exp(s − c) + log Σ exp(s + c)
//
// It falls as hypotheses that the model likes and that cost little gain on those that the model likes and that cost
// much. Its derivative by s is the difference of two distributions.
#pragma once

#include <vector>

#include "lists/scored_list.hh"

namespace itersel {

class SoftRamp {
 public:
  // A hypothesis costs `cost_scale` times (1 − metric).
  explicit SoftRamp(double cost_scale) : cost_scale_(cost_scale) {}

  // The loss of the list with these scores, one for each hypothesis. An empty list has none. A score or a metric value
  // that is not finite is an InputError.
  double loss(const ScoredList& list, const std::vector<double>& scores);
  // How the last loss falls with each hypothesis' score: the negative derivative.
  const std::vector<double>& shares() const { return shares_; }

 private:
  double cost_scale_;
  std::vector<double> shares_, terms_;
};

}  // namespace itersel
