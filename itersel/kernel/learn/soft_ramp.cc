#include "learn/soft_ramp.hh"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.hh"

namespace itersel {

double SoftRamp::loss(const ScoredList& list, const std::vector<double>& scores) {
  const std::size_t size = list.hypotheses.size();
  if (list.metric.size() != size || scores.size() != size)
    throw InputError("", "the list has " + std::to_string(size) + " hypotheses, " + std::to_string(scores.size()) +
                             " scores and " + std::to_string(list.metric.size()) + " metric values");
  for (std::size_t i = 0; i < size; ++i)
    if (!std::isfinite(scores[i]) || !std::isfinite(list.metric[i]))
      throw InputError("", "a score or a metric value is not a finite number: the list has no loss");
  shares_.assign(size, 0);
  if (size == 0) return 0;
  double loss = 0;
  for (const double sign : {-1.0, 1.0}) {
    terms_.clear();
    for (std::size_t i = 0; i < size; ++i) terms_.push_back(scores[i] + sign * cost_scale_ * (1 - list.metric[i]));
    const double largest = *std::max_element(terms_.begin(), terms_.end());
    double total = 0;
    for (double& term : terms_) total += term = std::exp(term - largest);
    loss += sign * (largest + std::log(total));
    for (std::size_t i = 0; i < size; ++i) shares_[i] -= sign * terms_[i] / total;
  }
  return loss;
}

}  // namespace itersel
