// Hope and fear (Chiang 2012): the one pair of the hypothesis that model and metric together like best, and the one
// that the model likes best although the metric does not.
//
//   hope = argmax ⟨w, x⟩ + metric,  fear = argmax ⟨w, x⟩ − metric
//
// Of equals, the first of the list. There is no pair unless the metric says that hope is better.
#include "base/error.hh"
#include "learn/chooser.hh"

namespace itersel {
namespace {

class HopeFearChooser : public Chooser {
  void fill(const Choice& choice, std::vector<Pair>* pairs) const override {
    const std::vector<double>& metric = choice.list.metric;
    const KBestList& list = choice.list.hypotheses;
    if (list.size() != metric.size()) throw InputError("", "hope and fear need the features of the hypotheses");
    Pair pair{0, 0};
    double hope = 0, fear = 0;
    for (std::uint32_t i = 0; i < list.size(); ++i) {
      double score = 0;
      for (const FeatureValue& x : list[i].features)
        if (x.feature < choice.weights.size()) score += choice.weights[x.feature] * x.value;
      if (i == 0 || score + metric[i] > hope) {
        hope = score + metric[i];
        pair.better = i;
      }
      if (i == 0 || score - metric[i] > fear) {
        fear = score - metric[i];
        pair.worse = i;
      }
    }
    if (metric[pair.better] > metric[pair.worse]) pairs->push_back(pair);
  }
};

}  // namespace

std::unique_ptr<Chooser> make_hope_fear_chooser(const PairOptions&) { return std::make_unique<HopeFearChooser>(); }

}  // namespace itersel
