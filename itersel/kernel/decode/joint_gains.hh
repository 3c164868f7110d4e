// By how much the first estimate of a rule over its tails tends to exceed the rule and the best tails on their own:
// what the joints bring. It is learnt in the course of a sentence, by the number of joints.
#pragma once

#include <algorithm>
#include <cstdint>

namespace itersel {

class JointGains {
 public:
  static constexpr std::uint32_t kMaxJoints = 4;

  void clear() { *this = JointGains(); }

  void learn(std::uint32_t joints, double gain) {
    Gains& seen = gains_[joints];
    seen.largest = std::max(seen.largest, gain);
    seen.sum += gain;
    ++seen.count;
  }

  // A gain that few exceed: between the mean and the largest so far.
  double expect(std::uint32_t joints) const {
    const Gains& seen = gains_[joints];
    if (seen.count < kFew) return kUnknown;
    const double mean = seen.sum / seen.count;
    return mean + kShare * (seen.largest - mean);
  }

 private:
  static constexpr double kShare = 0.6;    // of the way from the mean to the largest
  static constexpr double kUnknown = 1e6;  // look at once
  static constexpr std::uint32_t kFew = 8;

  struct Gains {
    double sum = 0, largest = 0;
    std::uint32_t count = 0;
  };
  Gains gains_[kMaxJoints + 1];
};

}  // namespace itersel
