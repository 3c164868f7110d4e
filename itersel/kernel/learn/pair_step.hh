// The loop of all steps that add η x̄ if a rule about ⟨w, x̄⟩ says so. The rule is compiled into the loop.
#pragma once

#include "learn/step.hh"

namespace itersel {

// Rule has `double margin() const`, below which a pair that is ranked right counts as a violation, and
// `bool updates(double score) const`, which may change its answer at 0 and at the margin only.
template <typename Rule>
class PairStep : public Step {
 public:
  explicit PairStep(const Rule& rule) : rule_(rule) {}

  void learn(const std::vector<Pair>& pairs, const ScoredList&, bool batch, double eta, CompactList* list,
             LearnStatistics* statistics) const override {
    for (const Pair& pair : pairs) {
      const double score = list->difference_score(pair, rule_.margin());
      const bool rank_error = score <= 0;
      statistics->rank_errors += rank_error;
      statistics->margin_violations += !rank_error && score < rule_.margin();
      if (!rule_.updates(score)) continue;
      ++statistics->updates;
      const std::vector<FeatureValue>& difference = list->subtract(pair);
      if (batch)
        list->add_to_gradient(1, difference);
      else
        list->add_to_weights(eta, difference);
    }
  }

 private:
  Rule rule_;
};

}  // namespace itersel
