#include "learn/compact_list.hh"

#include <algorithm>
#include <string>

#include "base/error.hh"

namespace itersel {
namespace {

constexpr std::uint32_t kConstantColumn = ~0u;

}  // namespace

void CompactList::assign(const KBestList& list, const std::vector<double>& model) {
  ++stamp_;
  if (stamps_.size() < model.size()) {
    stamps_.resize(model.size(), 0);
    column_of_.resize(model.size());
  }
  columns_.clear();
  for (const Hypothesis& hypothesis : list) {
    for (const FeatureValue& x : hypothesis.features) {
      if (x.feature >= model.size())
        throw InputError("", "a hypothesis has feature " + std::to_string(x.feature) + " but there are only " +
                                 std::to_string(model.size()) + " weights");
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
  features.clear();
  for (const Column& column : columns_) {
    column_of_[column.feature] = kConstantColumn;
    if (column.varies || column.count < list.size()) features.push_back(column.feature);
  }
  std::sort(features.begin(), features.end());
  weights.clear();
  for (std::size_t i = 0; i < features.size(); ++i) {
    column_of_[features[i]] = static_cast<std::uint32_t>(i);
    weights.push_back(model[features[i]]);
  }
  gradient.assign(features.size(), 0);
  marks_.assign(features.size(), 0);
  rows_.clear();
  entries_.clear();
  for (const Hypothesis& hypothesis : list) {
    const std::size_t begin = entries_.size();
    for (const FeatureValue& x : hypothesis.features)
      if (column_of_[x.feature] != kConstantColumn) entries_.push_back({column_of_[x.feature], x.value});
    rows_.push_back({begin, entries_.size()});
  }
  version_ = 0;
  fresh_ = false;
  subtracted_ = {kNoRow, kNoRow};
}

double CompactList::exact_score(const Pair& pair) {
  double sum = 0;
  for (const FeatureValue& x : subtract(pair)) sum += weights[x.feature] * x.value;
  return sum;
}

void CompactList::build_difference(const Pair& pair) {
  const FeatureValue *a = entries_.data() + rows_[pair.better].begin, *a_end = entries_.data() + rows_[pair.better].end;
  const FeatureValue *b = entries_.data() + rows_[pair.worse].begin, *b_end = entries_.data() + rows_[pair.worse].end;
  const auto longest = static_cast<std::size_t>((a_end - a) + (b_end - b));
  if (scratch_.size() < longest) scratch_.resize(longest);
  FeatureValue* to = scratch_.data();
  while (a != a_end && b != b_end) {
    if (a->feature < b->feature) {
      *to++ = *a++;
    } else if (b->feature < a->feature) {
      *to++ = {b->feature, -b->value};
      ++b;
    } else {
      if (a->value != b->value) *to++ = {a->feature, a->value - b->value};
      ++a, ++b;
    }
  }
  to = std::copy(a, a_end, to);
  for (; b != b_end; ++b) *to++ = {b->feature, -b->value};
  difference_.assign(scratch_.data(), to);
  subtracted_ = pair;
}

std::vector<double> CompactList::row_scores() const {
  std::vector<double> scores;
  scores.reserve(rows_.size());
  for (Row row : rows_) {
    score(&row);
    scores.push_back(row.score);
  }
  return scores;
}

void CompactList::add_rows_to_gradient(const std::vector<double>& shares) {
  for (std::size_t number = 0; number < rows_.size(); ++number) {
    for (std::size_t i = rows_[number].begin; i < rows_[number].end; ++i) {
      gradient[entries_[i].feature] += shares[number] * entries_[i].value;
      marks_[entries_[i].feature] = 1;
    }
  }
}

const std::vector<std::uint32_t>& CompactList::touched() {
  touched_.clear();
  for (std::size_t i = 0; i < marks_.size(); ++i)
    if (marks_[i]) touched_.push_back(static_cast<std::uint32_t>(i));
  return touched_;
}

}  // namespace itersel
