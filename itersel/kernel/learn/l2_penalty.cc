// ℓ2: half the square of every weight that the list touches, times λ, is part of the list's loss, so its derivative λw
// is part of the gradient, and the rate applies to both.
#include "base/error.hh"
#include "learn/penalty.hh"

namespace itersel {
namespace {

class L2Penalty : public Penalty {
 public:
  explicit L2Penalty(double l2) : l2_(l2) {}

  void add_to_gradient(const std::vector<std::uint32_t>& touched, CompactList* list) const override {
    for (const std::uint32_t i : touched) list->gradient[i] -= l2_ * list->weights[i];
  }

 private:
  double l2_;
};

}  // namespace

std::unique_ptr<Penalty> make_l2_penalty(const LearnOptions& options) {
  if (!options.batch) throw InputError("", "an l2 penalty is part of a list's gradient: learn in batch");
  return std::make_unique<L2Penalty>(options.l2);
}

}  // namespace itersel
