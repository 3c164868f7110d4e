// Ramp loss (ACL 2014 §4): w ← w + η x̄ for every pair, whatever the model says of it.
#include "learn/pair_step.hh"

namespace itersel {
namespace {

struct Ramp {
  double margin() const { return 0; }
  bool updates(double) const { return true; }
};

}  // namespace

std::unique_ptr<Step> make_ramp_step(const LearnOptions&) { return std::make_unique<PairStep<Ramp>>(Ramp()); }

}  // namespace itersel
