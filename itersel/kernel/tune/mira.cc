#include "tune/mira.hh"

#include <algorithm>
#include <utility>

#include "tune/objective.hh"

namespace itersel {
namespace {

double score_of(const SparseLists& lists, std::int64_t row, const std::vector<double>& weights) {
  double score = 0;
  for (std::int64_t at = lists.starts[row]; at < lists.starts[row + 1]; ++at)
    score += weights[lists.features[at]] * lists.values[at];
  return score;
}

// Visits the features of x(first) − x(second), zeros included.
template <class Visit>
void visit_difference(const SparseLists& lists, std::int64_t first, std::int64_t second, Visit visit) {
  std::int64_t a = lists.starts[first], b = lists.starts[second];
  const std::int64_t a_end = lists.starts[first + 1], b_end = lists.starts[second + 1];
  while (a < a_end || b < b_end) {
    if (b == b_end || (a < a_end && lists.features[a] < lists.features[b])) {
      visit(lists.features[a], lists.values[a]);
      ++a;
    } else if (a == a_end || lists.features[b] < lists.features[a]) {
      visit(lists.features[b], -lists.values[b]);
      ++b;
    } else {
      visit(lists.features[a], lists.values[a] - lists.values[b]);
      ++a;
      ++b;
    }
  }
}

}  // namespace

Mira::Mira(std::vector<double> weights, std::uint32_t order, const MiraOptions& options)
    : options_(options),
      weights_(std::move(weights)),
      weighted_(weights_.size(), 0.0),
      background_(2 + 2 * order, 1.0),  // as Moses: no order is without a match
      sums_(2 + 2 * order) {}

Mira::Choice Mira::choose(const SparseLists& lists, std::int64_t begin, std::int64_t end) {
  Choice choice;
  double best_hope = 0, best_fear = 0;
  const std::size_t width = background_.size();
  for (std::int64_t row = begin; row < end; ++row) {
    const float* own = lists.statistics + row * static_cast<std::int64_t>(width);
    for (std::size_t k = 0; k < width; ++k) sums_[k] = background_[k] + own[k];
    const double gain = corpus_bleu(sums_.data(), lists.order) * sums_[1];
    const double score = score_of(lists, row, weights_);
    if (row == begin || score + gain > best_hope) {
      best_hope = score + gain;
      choice.hope = row;
      choice.hope_gain = gain;
    }
    if (row == begin || score - gain > best_fear) {
      best_fear = score - gain;
      choice.fear = row;
      choice.fear_gain = gain;
    }
  }
  return choice;
}

void Mira::learn(const SparseLists& lists, const Choice& choice, MiraStatistics& statistics) {
  double margin = 0, squares = 0;
  visit_difference(lists, choice.hope, choice.fear, [&](std::uint32_t feature, double value) {
    margin += weights_[feature] * value;
    squares += value * value;
  });
  const double loss = choice.hope_gain - choice.fear_gain - margin;
  if (loss <= 0 || squares == 0) return;
  const double eta = std::min(options_.c, loss / squares);
  visit_difference(lists, choice.hope, choice.fear, [&](std::uint32_t feature, double value) {
    weights_[feature] += eta * value;
    weighted_[feature] += ticks_ * eta * value;
  });
  statistics.loss += loss;
  ++statistics.updates;
}

MiraStatistics Mira::run(const SparseLists& lists, const std::uint32_t* numbers, std::size_t count) {
  MiraStatistics statistics;
  const std::size_t width = background_.size();
  for (std::size_t at = 0; at < count; ++at) {
    const std::int64_t begin = lists.offsets[numbers[at]], end = lists.offsets[numbers[at] + 1];
    const Choice choice = choose(lists, begin, end);
    if (choice.hope_gain > choice.fear_gain) learn(lists, choice, statistics);
    const float* hope = lists.statistics + choice.hope * static_cast<std::int64_t>(width);
    for (std::size_t k = 0; k < width; ++k) background_[k] = options_.decay * background_[k] + hope[k];
    ++ticks_;
    ++statistics.lists;
  }
  return statistics;
}

// An update at list t (from 0) of n counts for the n − t lists from there on.
std::vector<double> Mira::average() const {
  std::vector<double> means(weights_);
  if (ticks_ > 0)
    for (std::size_t k = 0; k < means.size(); ++k) means[k] -= weighted_[k] / ticks_;
  return means;
}

}  // namespace itersel
