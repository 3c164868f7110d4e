// Passive-aggressive (Crammer et al. 2006, PA-I): the smallest step that ranks the better hypothesis above the worse
// one by as much as the metric says, but no larger than η:
//
//   w ← w + min(η, (Δmetric − ⟨w, x̄⟩) / ‖x̄‖²) x̄     if that loss is positive
#include <algorithm>

#include "base/error.hh"
#include "learn/step.hh"

namespace itersel {
namespace {

class PassiveAggressiveStep : public Step {
 public:
  void learn(const std::vector<Pair>& pairs, const ScoredList& scored, bool, double eta, CompactList* list,
             LearnStatistics* statistics) const override {
    for (const Pair& pair : pairs) {
      const std::vector<FeatureValue>& difference = list->subtract(pair);
      double score = 0, norm = 0;
      for (const FeatureValue& x : difference) {
        score += list->weights[x.feature] * x.value;
        norm += x.value * x.value;
      }
      const double loss = scored.metric[pair.better] - scored.metric[pair.worse] - score;
      statistics->rank_errors += score <= 0;
      statistics->margin_violations += score > 0 && loss > 0;
      if (!(loss > 0) || norm == 0) continue;
      ++statistics->updates;
      list->add_to_weights(std::min(eta, loss / norm), difference);
    }
  }
};

}  // namespace

std::unique_ptr<Step> make_passive_aggressive_step(const LearnOptions& options) {
  if (options.batch) throw InputError("", "passive-aggressive steps depend on the weights: learn online, not in batch");
  return std::make_unique<PassiveAggressiveStep>();
}

}  // namespace itersel
