// A list in the form in which pairs are compared: its features numbered 0, 1, … ascending, without those that have the
// same value in all hypotheses, which are in no x̄ = x(better) − x(worse).
//
// ⟨w, x̄⟩ is defined as the sum over x̄'s non-zeros, ascending by feature, so that features a pair shares cannot decide
// a tie by rounding.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "learn/chooser.hh"
#include "model/kbest_list.hh"

namespace itersel {

class CompactList {
 public:
  // Takes over a list and its features' weights. A feature without a weight is an InputError.
  void assign(const KBestList& list, const std::vector<double>& model);

  // By number: the feature, its weight, and the sum that a batch update adds up.
  std::vector<std::uint32_t> features;
  std::vector<double> weights, gradient;

  // ⟨w, x̄⟩, or a number on the same side of 0 and of the margin.
  double difference_score(const Pair& pair, double margin);
  // x̄ by feature numbers; valid until the next pair is asked about.
  const std::vector<FeatureValue>& subtract(const Pair& pair) {
    if (pair.better != subtracted_.better || pair.worse != subtracted_.worse) build_difference(pair);
    return difference_;
  }
  // Adds factor · x̄ to the weights, which later scores see, or to the gradient, which they do not.
  void add_to_weights(double factor, const std::vector<FeatureValue>& difference) {
    add(factor, difference, weights);
    ++version_;
    fresh_ = true;
  }
  void add_to_gradient(double factor, const std::vector<FeatureValue>& difference) {
    add(factor, difference, gradient);
  }

  // ⟨w, x⟩ of every hypothesis, without what all of them share.
  std::vector<double> row_scores() const;
  // Adds Σ shares[i] · x(hypothesis i) to the gradient.
  void add_rows_to_gradient(const std::vector<double>& shares);

  // Feature numbers that were added to, ascending.
  const std::vector<std::uint32_t>& touched();

 private:
  static constexpr std::uint32_t kNoRow = ~0u;
  struct Row {
    std::size_t begin, end;         // in entries_
    double score = 0;               // ⟨w, x⟩ over the row
    double magnitude = 0;           // Σ |w_f x_f|
    std::uint64_t version = ~0ull;  // of the weights that score belongs to
  };
  struct Column {
    std::uint32_t feature, count;
    double value;
    bool varies;
  };

  void add(double factor, const std::vector<FeatureValue>& difference, std::vector<double>& target) {
    for (const FeatureValue& x : difference) {
      target[x.feature] += factor * x.value;
      marks_[x.feature] = 1;
    }
  }
  void build_difference(const Pair& pair);
  void score(Row* row) const;
  double exact_score(const Pair& pair);

  std::vector<std::uint32_t> column_of_;  // per feature of the model, valid if stamps_ says so
  std::vector<std::uint64_t> stamps_;     // per feature of the model: the list that last had it
  std::uint64_t stamp_ = 0;
  std::vector<Column> columns_;
  std::vector<char> marks_;  // by number: was added to
  std::vector<std::uint32_t> touched_;
  std::vector<FeatureValue> entries_;     // all rows, by number instead of feature
  std::vector<FeatureValue> difference_;  // x̄ of the pair below
  std::vector<FeatureValue> scratch_;     // room for the longest x̄
  Pair subtracted_{kNoRow, kNoRow};
  std::vector<Row> rows_;
  std::uint64_t version_ = 0;
  bool fresh_ = false;  // no pair was compared since the weights changed
};

inline void CompactList::score(Row* row) const {
  double sum = 0, magnitude = 0;
  for (std::size_t i = row->begin; i < row->end; ++i) {
    const double term = weights[entries_[i].feature] * entries_[i].value;
    sum += term;
    magnitude += std::fabs(term);
  }
  row->score = sum;
  row->magnitude = magnitude;
  row->version = version_;
}

// The difference of the two hypotheses' scores, which most pairs can share, decides unless rounding could matter; then
// x̄ itself is built and summed. So the decisions are those of the definition, as fast as keeping scores up to date by a
// Gram matrix (measured; that one drifts). Updates come in runs, so after one, scores are not worth their time yet: the
// next pair probably needs x̄ anyway.
inline double CompactList::difference_score(const Pair& pair, double margin) {
  if (fresh_) {
    fresh_ = false;
    return exact_score(pair);
  }
  Row &a = rows_[pair.better], &b = rows_[pair.worse];
  if (a.version != version_) score(&a);
  if (b.version != version_) score(&b);
  const double difference = a.score - b.score, magnitude = a.magnitude + b.magnitude;
  if (magnitude == 0) return 0;
  // Twice the textbook bound (terms · 2^-53 · Σ|w x|) for either way of summing.
  const double bound = static_cast<double>(a.end - a.begin + b.end - b.begin + 4) * 0x1p-51 * magnitude;
  const bool near_margin = std::fabs(difference - margin) <= bound + 0x1p-51 * margin;
  return std::fabs(difference) > bound && !near_margin ? difference : exact_score(pair);
}

}  // namespace itersel
