#include "metrics/bleu.hh"

#include <algorithm>
#include <array>
#include <cmath>

namespace itersel {
namespace {

double brevity_penalty(double h, double r) { return h > r ? 1 : std::exp(1 - r / h); }

// exp(mean_n log((m_n + added) / (c_n + added))), where orders from 2 on add; 0 if an order has no match.
double mean_precision(const Statistic* row, int order, int used, double added) {
  const Statistic *matches = row + 2, *counts = matches + order;
  double logs = 0;
  for (int n = 0; n < used; ++n) {
    const double one = n > 0 ? added : 0;
    if (matches[n] + one == 0) return 0;
    logs += std::log((matches[n] + one) / (counts[n] + one));
  }
  return std::exp(logs / used);
}

int used_orders(int order, double r) { return static_cast<int>(std::min<double>(order, r)); }

double geometric_bleu(const Statistic* row, int order, double added, double longer) {
  const double h = row[0], r = row[1];
  if (h == 0 || r == 0) return 0;
  const double precision = mean_precision(row, order, used_orders(order, r), added);
  return precision == 0 ? 0 : brevity_penalty(h, r + longer) * precision;
}

}  // namespace

double bleu(const Statistic* row, int order) { return geometric_bleu(row, order, 0, 0); }

double stupid_bleu(const Statistic* row, int order) { return geometric_bleu(row, order, 1, 0); }

double fixed_stupid_bleu(const Statistic* row, int order) { return geometric_bleu(row, order, 1, 1); }

double smooth_bleu(const Statistic* row, int order) {
  const double h = row[0], r = row[1];
  if (h == 0 || r == 0) return 0;
  const Statistic *matches = row + 2, *counts = matches + order;
  const int used = used_orders(order, r);
  double logs = 0, sum = 0;
  for (int n = 1; n <= used && matches[n - 1] > 0; ++n) {
    logs += std::log(static_cast<double>(matches[n - 1]) / counts[n - 1]);
    sum += std::exp(logs / n) / std::ldexp(1.0, used - n + 1);
  }
  return brevity_penalty(h, r) * sum;
}

double corpus_bleu(const double* sums, int order) {
  const double h = sums[0], r = sums[1];
  const double *matches = sums + 2, *counts = matches + order;
  if (std::all_of(matches, matches + order, [](double m) { return m == 0; })) return 0;
  double logs = 0, smoothing = 1;
  for (int n = 0; n < order; ++n) {
    if (counts[n] == 0) return 0;
    if (matches[n] == 0) smoothing /= 2;
    logs += std::log((matches[n] == 0 ? smoothing : matches[n]) / counts[n]);
  }
  return brevity_penalty(h, r) * std::exp(logs / order);
}

std::uint32_t closest_length(const std::vector<std::uint32_t>& lengths, std::uint32_t h) {
  std::uint32_t found = 0, closest = ~0u;
  for (const std::uint32_t length : lengths) {  // ascending, so the shorter of two equally close ones stays
    const std::uint32_t distance = length > h ? length - h : h - length;
    if (distance < closest) {
      closest = distance;
      found = length;
    }
  }
  return found;
}

BleuReferences::BleuReferences(const std::vector<std::vector<std::uint32_t>>& references, int order)
    : order_(order), ngrams_(references, order) {
  for (const auto& reference : references) lengths_.push_back(static_cast<std::uint32_t>(reference.size()));
  std::sort(lengths_.begin(), lengths_.end());
}

void BleuReferences::count(const std::vector<std::uint32_t>& words, Statistic* row) {
  const auto h = static_cast<std::uint32_t>(words.size());
  std::array<std::uint32_t, kMaxBleuOrder> matches{};
  ngrams_.match(words.data(), words.size(), matches.data());
  row[0] = static_cast<Statistic>(h);
  row[1] = static_cast<Statistic>(closest_length(lengths_, h));
  for (int n = 0; n < order_; ++n) {
    const auto shorter = static_cast<std::uint32_t>(n);
    row[2 + n] = static_cast<Statistic>(matches[n]);
    row[2 + order_ + n] = static_cast<Statistic>(h > shorter ? h - shorter : 0);
  }
}

}  // namespace itersel
