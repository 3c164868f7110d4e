#include "metrics/background.hh"

#include <string>

#include "base/error.hh"

namespace itersel {

Background::Background(const Metric& metric, double decay)
    : metric_(metric), decay_(decay), sums_(metric.width()), with_(metric.width()) {
  if (!(decay > 0 && decay < 1))
    throw InputError("", "background is " + std::to_string(decay) + "; it must be between 0 and 1");
}

double Background::corpus_score(const std::vector<double>& sums) const {
  const double score = metric_.corpus_score(sums.data());
  return metric_.kind() == StatisticKind::kTer ? 1 - score : score;
}

void Background::rescore(const StatisticRows& statistics, std::vector<double>* scores) {
  if (scores->empty()) return;
  const double before = sentences_ == 0 ? 0 : corpus_score(sums_);
  const Statistic* row = statistics.values.data();
  for (double& score : *scores) {
    for (std::size_t k = 0; k < sums_.size(); ++k) with_[k] = sums_[k] + static_cast<double>(row[k]);
    score = before + (sentences_ + 1) * (corpus_score(with_) - before);
    row += statistics.width;
  }
  for (std::size_t k = 0; k < sums_.size(); ++k)
    sums_[k] = decay_ * (sums_[k] + static_cast<double>(statistics.values[k]));
  sentences_ = decay_ * (sentences_ + 1);
}

}  // namespace itersel
