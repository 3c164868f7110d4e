// Margin perceptron (Collobert & Bengio 2004): w ← w + η x̄ if ⟨w, x̄⟩ < margin.
#include <string>

#include "base/error.hh"
#include "learn/pair_step.hh"

namespace itersel {
namespace {

class MarginPerceptron {
 public:
  explicit MarginPerceptron(double margin) : margin_(margin) {}
  double margin() const { return margin_; }
  bool updates(double score) const { return score < margin_; }

 private:
  double margin_;
};

}  // namespace

std::unique_ptr<Step> make_margin_perceptron_step(const LearnOptions& options) {
  if (!(options.margin >= 0)) throw InputError("", "the margin is negative: " + std::to_string(options.margin));
  return std::make_unique<PairStep<MarginPerceptron>>(MarginPerceptron(options.margin));
}

}  // namespace itersel
