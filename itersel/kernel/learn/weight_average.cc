#include "learn/weight_average.hh"

#include <algorithm>
#include <cmath>

#include "base/error.hh"

namespace itersel {

void WeightAverage::change(std::uint32_t feature, double weight, std::uint64_t lists) {
  if (feature >= sums_.size()) {
    sums_.resize(feature + std::size_t{1}, 0);
    summed_.resize(feature + std::size_t{1}, 0);
  }
  sums_[feature] += weight * static_cast<double>(lists - summed_[feature]);
  summed_[feature] = lists;
}

std::vector<double> WeightAverage::mean(const std::vector<double>& weights, std::uint64_t lists) const {
  std::vector<double> mean = weights;
  for (std::size_t feature = 0; feature < std::min(mean.size(), sums_.size()); ++feature) {
    if (summed_[feature] == 0) continue;  // the same after all lists
    const double last = mean[feature] * static_cast<double>(lists - summed_[feature]);
    mean[feature] = (sums_[feature] + last) / static_cast<double>(lists);
    if (!std::isfinite(mean[feature]))
      throw InputError("", "the sum of a weight over the lists became infinite; use a smaller learning rate");
  }
  return mean;
}

}  // namespace itersel
