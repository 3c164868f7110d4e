// Conditioning by extraction counts (NAACL 2013 §6.1): the rate of a rule's identity is η over the number of times that
// the rule was extracted, that of any other feature η over the number of lists.
#include "base/error.hh"
#include "learn/feature_counts.hh"
#include "learn/rate.hh"

namespace itersel {
namespace {

class ConditionedRate : public Rate {
 public:
  ConditionedRate(double eta, const FeatureCounts* counts) : eta_(eta), counts_(counts) {}

  double of_list(std::uint64_t) const override { return eta_; }

  void apply(double eta, const std::vector<std::uint32_t>& touched, CompactList* list) override {
    for (const std::uint32_t i : touched) list->weights[i] += eta / (*counts_)[list->features[i]] * list->gradient[i];
  }

 private:
  double eta_;
  const FeatureCounts* counts_;
};

}  // namespace

std::unique_ptr<Rate> make_conditioned_rate(const LearnOptions& options) {
  if (!options.batch)
    throw InputError("", "the schedule conditioned needs batch: true, as it divides a list's gradient");
  if (options.counts == nullptr)
    throw InputError("", "the schedule conditioned needs shards, whose rules say how often they were extracted");
  return std::make_unique<ConditionedRate>(options.eta, options.counts);
}

}  // namespace itersel
