// The mean of the weights over the lists learned from (Freund & Schapire 1999), kept only where weights change.
#pragma once

#include <cstdint>
#include <vector>

namespace itersel {

class WeightAverage {
 public:
  // The feature is about to change after `lists` lists have left it at `weight`.
  void change(std::uint32_t feature, double weight, std::uint64_t lists);
  // The mean after `lists` lists, at least one, of which the last left `weights`.
  std::vector<double> mean(const std::vector<double>& weights, std::uint64_t lists) const;

 private:
  // Per feature: the sum of its weight over the first summed_ lists.
  std::vector<double> sums_;
  std::vector<std::uint64_t> summed_;
};

}  // namespace itersel
