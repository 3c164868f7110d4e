// AdaGrad (Duchi et al. 2011; Green et al. 2013): each feature has its own rate η / (√G + 10⁻⁶), where G sums the
// squares of the feature's Σ x̄ over the lists so far, this one included, and what an account from before has.
#include <cmath>
#include <utility>

#include "base/error.hh"
#include "learn/rate.hh"

namespace itersel {
namespace {

constexpr double kFloor = 1e-6;  // so that what is left of a sum by rounding does not become a step of η

class AdaGradRate : public Rate {
 public:
  explicit AdaGradRate(double eta, std::vector<double> squares) : eta_(eta), squares_(std::move(squares)) {}

  double of_list(std::uint64_t) const override { return eta_; }

  void apply(double eta, const std::vector<std::uint32_t>& touched, CompactList* list) override {
    if (!list->features.empty() && squares_.size() <= list->features.back()) squares_.resize(list->features.back() + 1);
    for (const std::uint32_t i : touched) {
      double& squares = squares_[list->features[i]];
      squares += list->gradient[i] * list->gradient[i];
      list->weights[i] += eta * list->gradient[i] / (std::sqrt(squares) + kFloor);
    }
  }

  std::vector<double> account() const override { return squares_; }

 private:
  double eta_;
  std::vector<double> squares_;  // G, per feature
};

}  // namespace

std::unique_ptr<Rate> make_adagrad_rate(const LearnOptions& options) {
  if (!options.batch)
    throw InputError("", "the schedule adagrad needs batch: true, as it knows a list's gradient only after all pairs");
  return std::make_unique<AdaGradRate>(options.eta, options.account ? *options.account : std::vector<double>());
}

}  // namespace itersel
