#include "learn/learn.hh"

#include <algorithm>
#include <cmath>

#include "base/error.hh"

namespace itersel {
namespace {

constexpr std::uint32_t kConstantColumn = ~0u;
constexpr double kAdaGradFloor = 1e-6;  // so that what is left of a sum by rounding does not become a step of η

double rate(const LearnOptions& options, std::uint64_t t) {
  switch (options.schedule) {
    case Schedule::kInverse:
      return options.eta / static_cast<double>(t);
    case Schedule::kInverseSqrt:
      return options.eta / std::sqrt(static_cast<double>(t));
    default:
      return options.eta;
  }
}

}  // namespace

UpdateRule update_rule_of_name(const std::string& name) {
  if (name == "perceptron") return UpdateRule::kPerceptron;
  if (name == "margin_perceptron") return UpdateRule::kMarginPerceptron;
  throw InputError("", "unknown update rule '" + name + "'; there are perceptron and margin_perceptron");
}

Schedule schedule_of_name(const std::string& name) {
  if (name == "constant") return Schedule::kConstant;
  if (name == "inverse") return Schedule::kInverse;
  if (name == "inverse_sqrt") return Schedule::kInverseSqrt;
  if (name == "adagrad") return Schedule::kAdaGrad;
  throw InputError("", "unknown schedule '" + name + "'; there are constant, inverse, inverse_sqrt and adagrad");
}

Learner::Learner(std::vector<double>* weights, const LearnOptions& options, std::uint64_t lists_before)
    : weights_(weights), options_(options), lists_seen_(lists_before) {
  if (!(options.eta > 0)) throw InputError("", "the learning rate is not positive: " + std::to_string(options.eta));
  if (!(options.lambda >= 0)) throw InputError("", "the l1 step is negative: " + std::to_string(options.lambda));
  if (!(options.margin >= 0)) throw InputError("", "the margin is negative: " + std::to_string(options.margin));
  if (options.schedule == Schedule::kAdaGrad && !options.batch)
    throw InputError("", "the schedule adagrad needs batch: true, as it knows a list's gradient only after all pairs");
}

void Learner::learn(const KBestList& list, const std::vector<double>& values, std::uint64_t sentence) {
  make_pairs(values, options_.pairs, sentence, &pairs_);
  learn(list, values, pairs_);
}

void Learner::learn(const KBestList& list, const std::vector<double>& values, const std::vector<Pair>& pairs) {
  if (values.size() != list.size())
    throw InputError("", "the list has " + std::to_string(list.size()) + " hypotheses but there are " +
                             std::to_string(values.size()) + " metric values");
  changed_.clear();
  compact(list);

  const double eta = rate(options_, ++lists_seen_);
  const double margin = options_.rule == UpdateRule::kMarginPerceptron ? options_.margin : 0;
  for (const Pair& pair : pairs) {
    const double score = difference_score(pair);
    const bool rank_error = score <= 0;
    statistics_.rank_errors += rank_error;
    statistics_.margin_violations += !rank_error && score < margin;
    const bool update = options_.rule == UpdateRule::kMarginPerceptron ? score < margin : rank_error;
    if (!update) continue;
    ++statistics_.updates;
    subtract(pair);
    std::vector<double>& target = options_.batch ? sum_ : local_;
    const double step = options_.batch ? 1 : eta;
    for (const FeatureValue& x : difference_) {
      target[x.feature] += step * x.value;
      touched_[x.feature] = 1;
    }
    if (!options_.batch) ++version_;
  }
  finish(eta);

  ++statistics_.lists;
  statistics_.hypotheses += list.size();
  for (const Hypothesis& hypothesis : list) statistics_.features += hypothesis.features.size();
  statistics_.pairs += pairs.size();
  if (list.empty()) return;
  statistics_.best_metric += values[0];
  statistics_.best_score += list[0].score;
}

// Numbers the features that differ between hypotheses and copies the list and the weights in those terms.
void Learner::compact(const KBestList& list) {
  ++stamp_;
  if (stamps_.size() < weights_->size()) {
    stamps_.resize(weights_->size(), 0);
    column_of_.resize(weights_->size());
  }
  if (options_.schedule == Schedule::kAdaGrad && squares_.size() < weights_->size())
    squares_.resize(weights_->size(), 0);
  if (options_.average && sums_.size() < weights_->size()) {
    sums_.resize(weights_->size(), 0);
    summed_.resize(weights_->size(), 0);
  }
  columns_.clear();
  for (const Hypothesis& hypothesis : list) {
    for (const FeatureValue& x : hypothesis.features) {
      if (x.feature >= weights_->size())
        throw InputError("", "a hypothesis has feature " + std::to_string(x.feature) + " but there are only " +
                                 std::to_string(weights_->size()) + " weights");
      if (stamps_[x.feature] != stamp_) {
        stamps_[x.feature] = stamp_;
        column_of_[x.feature] = static_cast<std::uint32_t>(columns_.size());
        columns_.push_back({x.feature, 1, x.value, false});
      } else {
        Column& column = columns_[column_of_[x.feature]];
        ++column.count;
        column.varies = column.varies || column.value != x.value;
      }
    }
  }
  features_.clear();
  for (const Column& column : columns_) {
    column_of_[column.feature] = kConstantColumn;
    if (column.varies || column.count < list.size()) features_.push_back(column.feature);
  }
  std::sort(features_.begin(), features_.end());
  local_.clear();
  for (std::size_t i = 0; i < features_.size(); ++i) {
    column_of_[features_[i]] = static_cast<std::uint32_t>(i);
    local_.push_back((*weights_)[features_[i]]);
  }
  sum_.assign(features_.size(), 0);
  touched_.assign(features_.size(), 0);
  rows_.clear();
  entries_.clear();
  for (const Hypothesis& hypothesis : list) {
    const std::size_t begin = entries_.size();
    for (const FeatureValue& x : hypothesis.features)
      if (column_of_[x.feature] != kConstantColumn) entries_.push_back({column_of_[x.feature], x.value});
    rows_.push_back({begin, entries_.size()});
  }
  version_ = 0;
}

void Learner::score(Row* row) const {
  double sum = 0, magnitude = 0;
  for (std::size_t i = row->begin; i < row->end; ++i) {
    const double term = local_[entries_[i].feature] * entries_[i].value;
    sum += term;
    magnitude += std::fabs(term);
  }
  row->score = sum;
  row->magnitude = magnitude;
  row->version = version_;
}

// ⟨w, x̄⟩, or a number on the same side of 0 and of the margin. The difference of the two hypotheses' scores, which most
// pairs can share, decides unless rounding could matter; then x̄ itself is built and summed. So the decisions are those
// of the definition, at the speed of keeping scores up to date by a Gram matrix (measured; that one drifts).
double Learner::difference_score(const Pair& pair) {
  Row &a = rows_[pair.better], &b = rows_[pair.worse];
  if (a.version != version_) score(&a);
  if (b.version != version_) score(&b);
  const double difference = a.score - b.score, magnitude = a.magnitude + b.magnitude;
  if (magnitude == 0) return 0;
  // Twice the textbook bound (terms · 2^-53 · Σ|w x|) for either way of summing.
  const double bound = static_cast<double>(a.end - a.begin + b.end - b.begin + 4) * 0x1p-51 * magnitude;
  const bool near_margin = options_.rule == UpdateRule::kMarginPerceptron &&
                           std::fabs(difference - options_.margin) <= bound + 0x1p-51 * options_.margin;
  if (std::fabs(difference) > bound && !near_margin) return difference;
  subtract(pair);
  double sum = 0;
  for (const FeatureValue& x : difference_) sum += local_[x.feature] * x.value;
  return sum;
}

// x̄ of a pair: the rows merged.
void Learner::subtract(const Pair& pair) {
  const FeatureValue *a = entries_.data() + rows_[pair.better].begin, *a_end = entries_.data() + rows_[pair.better].end;
  const FeatureValue *b = entries_.data() + rows_[pair.worse].begin, *b_end = entries_.data() + rows_[pair.worse].end;
  difference_.clear();
  while (a != a_end && b != b_end) {
    if (a->feature < b->feature) {
      difference_.push_back(*a++);
    } else if (b->feature < a->feature) {
      difference_.push_back({b->feature, -b->value});
      ++b;
    } else {
      if (a->value != b->value) difference_.push_back({a->feature, a->value - b->value});
      ++a, ++b;
    }
  }
  for (; a != a_end; ++a) difference_.push_back(*a);
  for (; b != b_end; ++b) difference_.push_back({b->feature, -b->value});
}

// Batch update, clipping, and the way back to the weight vector.
void Learner::finish(double eta) {
  for (std::size_t i = 0; i < features_.size(); ++i) {
    if (!touched_[i]) continue;
    double w = local_[i];
    if (options_.schedule == Schedule::kAdaGrad) {
      double& squares = squares_[features_[i]];
      squares += sum_[i] * sum_[i];
      w += eta * sum_[i] / (std::sqrt(squares) + kAdaGradFloor);
    } else if (options_.batch) {
      w += eta * sum_[i];
    }
    if (options_.lambda > 0) w = w > 0 ? std::max(0.0, w - options_.lambda) : std::min(0.0, w + options_.lambda);
    if (options_.average) {  // the weight so far was that of all lists since its last change
      const std::uint32_t feature = features_[i];
      sums_[feature] += (*weights_)[feature] * static_cast<double>(statistics_.lists - summed_[feature]);
      summed_[feature] = statistics_.lists;
    }
    (*weights_)[features_[i]] = w;
    changed_.push_back(features_[i]);
  }
}

std::vector<double> Learner::average() const {
  if (!options_.average || statistics_.lists == 0) throw InputError("", "there is no average of the weights");
  std::vector<double> mean(weights_->size());
  for (std::size_t feature = 0; feature < mean.size(); ++feature) {
    const std::uint64_t summed = feature < summed_.size() ? summed_[feature] : 0;
    const double sum = feature < sums_.size() ? sums_[feature] : 0;
    mean[feature] = (*weights_)[feature];
    if (summed == 0) continue;  // the same after all lists
    const auto lists = static_cast<double>(statistics_.lists);
    mean[feature] = (sum + mean[feature] * static_cast<double>(statistics_.lists - summed)) / lists;
    if (!std::isfinite(mean[feature]))
      throw InputError("", "the sum of a weight over the lists became infinite; use a smaller learning rate");
  }
  return mean;
}

std::uint64_t Learner::count_nonzero() const {
  return static_cast<std::uint64_t>(std::count_if(weights_->begin(), weights_->end(), [](double w) { return w != 0; }));
}

}  // namespace itersel
