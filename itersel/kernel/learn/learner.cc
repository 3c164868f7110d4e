#include "learn/learner.hh"

#include <algorithm>
#include <string>

#include "base/error.hh"

namespace itersel {

Learner::Learner(std::vector<double>* weights, const LearnOptions& options, std::uint64_t lists_before)
    : weights_(weights), batch_(options.batch), lists_seen_(lists_before), factors_(options.factors) {
  if (factors_ && !batch_)
    throw InputError("", "rates by feature need batch: true, as they multiply the update of a list");
  if (!(options.eta > 0)) throw InputError("", "the learning rate is not positive: " + std::to_string(options.eta));
  step_ = options.rule(options);
  rate_ = options.schedule(options);
  penalty_ = make_penalty(options);
  if (options.average) average_ = std::make_unique<WeightAverage>();
}

void Learner::learn(const ScoredList& list, const std::vector<Pair>& pairs) {
  const KBestList& hypotheses = list.hypotheses;
  if (list.metric.size() != hypotheses.size())
    throw InputError("", "the list has " + std::to_string(hypotheses.size()) + " hypotheses but there are " +
                             std::to_string(list.metric.size()) + " metric values");
  changed_.clear();
  compact_.assign(hypotheses, *weights_);

  const double eta = rate_->of_list(++lists_seen_);
  step_->learn(pairs, list, batch_, eta, &compact_, &statistics_);
  const std::vector<std::uint32_t>& touched = compact_.touched();
  if (batch_) {
    penalty_->add_to_gradient(touched, &compact_);
    rate_->apply(eta, touched, &compact_);
  }
  penalty_->apply(touched, &compact_);
  for (const std::uint32_t i : touched) {
    const std::uint32_t feature = compact_.features[i];
    double& weight = (*weights_)[feature];
    if (average_) average_->change(feature, weight, statistics_.lists);
    const double factor = factors_ ? (*factors_)[feature] : 1;
    weight = factor == 1 ? compact_.weights[i] : weight + factor * (compact_.weights[i] - weight);
    changed_.push_back(feature);
  }

  ++statistics_.lists;
  statistics_.hypotheses += hypotheses.size();
  for (const Hypothesis& hypothesis : hypotheses) statistics_.features += hypothesis.features.size();
  statistics_.pairs += pairs.size();
  if (hypotheses.empty()) return;
  statistics_.best_metric += list.metric[0];
  statistics_.best_score += hypotheses[0].score;
}

std::vector<double> Learner::average() const {
  if (!average_ || statistics_.lists == 0) throw InputError("", "there is no average of the weights");
  return average_->mean(*weights_, statistics_.lists);
}

std::uint64_t Learner::count_nonzero() const {
  return static_cast<std::uint64_t>(std::count_if(weights_->begin(), weights_->end(), [](double w) { return w != 0; }));
}

}  // namespace itersel
