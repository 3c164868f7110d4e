// By how much the first estimate of a rule over its tails exceeds the rule and the best tails on their own, learnt in
// the course of a cell: what joints bring. Rules with many joints gain more, so each number of joints has its own
// figures.
#pragma once

#include <algorithm>
#include <cstdint>

namespace itersel {

class JointGains {
 public:
  static constexpr std::uint32_t kMaxJoints = 4;  // of a rule: words before, between and after two tails

  void clear() { *this = JointGains(); }

  void learn(std::uint32_t joints, double gain) {
    of_[joints].add(gain);
    of_all_.add(gain);
  }

  // A gain that few exceed: half way from the mean to the largest so far. Something must have been learnt.
  double expect(std::uint32_t joints) const {
    const Gains& seen = of_[joints].count < kFew ? of_all_ : of_[joints];
    return 0.5 * (seen.sum / seen.count + seen.largest);
  }

 private:
  static constexpr std::uint32_t kFew = 4;

  struct Gains {
    double sum = 0, largest = 0;
    std::uint32_t count = 0;

    void add(double gain) {
      largest = count ? std::max(largest, gain) : gain;
      sum += gain;
      ++count;
    }
  };
  Gains of_[kMaxJoints + 1], of_all_;
};

}  // namespace itersel
