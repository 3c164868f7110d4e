// Soft ramp, online (NAACL 2013 §6.1): w ← w − η ∇ of the list's soft ramp loss, which needs no pairs.
#include <string>

#include "base/error.hh"
#include "learn/soft_ramp.hh"
#include "learn/step.hh"

namespace itersel {
namespace {

class SoftRampStep : public Step {
 public:
  explicit SoftRampStep(double cost_scale) : cost_scale_(cost_scale) {}

  // A list whose first hypothesis is not the best by the metric counts as a rank error.
  void learn(const std::vector<Pair>&, const ScoredList& scored, bool, double, CompactList* list,
             LearnStatistics* statistics) const override {
    if (scored.hypotheses.size() < 2) return;
    SoftRamp ramp(cost_scale_);
    ramp.loss(scored, list->row_scores());
    for (const double value : scored.metric)
      if (value > scored.metric[0]) {
        ++statistics->rank_errors;
        break;
      }
    ++statistics->updates;
    list->add_rows_to_gradient(ramp.shares());
  }

 private:
  double cost_scale_;
};

}  // namespace

std::unique_ptr<Step> make_soft_ramp_step(const LearnOptions& options) {
  if (!options.batch) throw InputError("", "a soft ramp step is one update for the whole list: learn in batch");
  if (!(options.cost_scale > 0))
    throw InputError("", "the cost scale is not positive: " + std::to_string(options.cost_scale));
  return std::make_unique<SoftRampStep>(options.cost_scale);
}

}  // namespace itersel
