// ℓ1 with clipping (Tsuruoka et al. 2009; WMT 2013 table 3): every weight that an update touched moves towards 0 by the
// same amount and stops at 0.
#include <algorithm>

#include "learn/penalty.hh"

namespace itersel {
namespace {

class L1Penalty : public Penalty {
 public:
  explicit L1Penalty(double l1) : l1_(l1) {}

  void apply(const std::vector<std::uint32_t>& touched, CompactList* list) const override {
    for (const std::uint32_t i : touched) {
      double& w = list->weights[i];
      w = w > 0 ? std::max(0.0, w - l1_) : std::min(0.0, w + l1_);
    }
  }

 private:
  double l1_;
};

}  // namespace

std::unique_ptr<Penalty> make_l1_penalty(double l1) { return std::make_unique<L1Penalty>(l1); }

}  // namespace itersel
