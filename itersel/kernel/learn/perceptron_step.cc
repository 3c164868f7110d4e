// Perceptron: w ← w + η x̄ if ⟨w, x̄⟩ ≤ 0.
#include "learn/pair_step.hh"

namespace itersel {
namespace {

struct Perceptron {
  double margin() const { return 0; }
  bool updates(double score) const { return score <= 0; }
};

}  // namespace

std::unique_ptr<Step> make_perceptron_step(const LearnOptions&) {
  return std::make_unique<PairStep<Perceptron>>(Perceptron());
}

}  // namespace itersel
