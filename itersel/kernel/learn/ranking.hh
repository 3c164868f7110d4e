// A list sorted by metric value, best first; equal values keep the list's own order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "learn/chooser.hh"

namespace itersel {

struct Ranking {
  std::vector<std::uint32_t> order;  // indices into the list
  std::vector<double> values;        // in that order

  explicit Ranking(const std::vector<double>& metric) : order(metric.size()), values(metric.size()) {
    struct Ranked {
      double value;
      std::uint32_t index;
    };
    std::vector<Ranked> ranked(metric.size());
    for (std::uint32_t i = 0; i < ranked.size(); ++i) ranked[i] = {metric[i], i};
    std::sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) {
      return a.value > b.value || (a.value == b.value && a.index < b.index);
    });
    for (std::size_t rank = 0; rank < ranked.size(); ++rank) {
      order[rank] = ranked[rank].index;
      values[rank] = ranked[rank].value;
    }
  }

  std::size_t size() const { return order.size(); }

  // Pairs every rank in [first, last) with every rank in [from, end) of lower value. Values descend, so those are all
  // ranks from some place on, and a row of pairs is copied at once.
  void cross(std::size_t first, std::size_t last, std::size_t from, std::size_t end, std::vector<Pair>* pairs) const {
    if (first >= last || from >= end) return;
    std::vector<Pair> row;
    row.reserve(end - from);
    for (std::size_t j = from; j < end; ++j) row.push_back({0, order[j]});
    pairs->reserve(pairs->size() + (last - first) * row.size());
    std::size_t lower = 0;
    for (std::size_t i = first; i < last; ++i) {
      while (lower < row.size() && !(values[i] > values[from + lower])) ++lower;
      for (Pair& pair : row) pair.better = order[i];
      pairs->insert(pairs->end(), row.begin() + static_cast<std::ptrdiff_t>(lower), row.end());
    }
  }
};

}  // namespace itersel
