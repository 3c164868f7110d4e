// A list sorted by metric value, best first; equal values keep the list's own order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "learn/chooser.hh"

namespace itersel {

struct Ranking {
  std::vector<std::uint32_t> order;  // indices into the list
  std::vector<double> values;        // in that order

  explicit Ranking(const std::vector<double>& metric) : order(metric.size()) {
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return metric[a] > metric[b]; });
    values.reserve(metric.size());
    for (const std::uint32_t i : order) values.push_back(metric[i]);
  }

  std::size_t size() const { return order.size(); }

  // Pairs every rank in [first, last) with every rank in [from, end) of lower value.
  void cross(std::size_t first, std::size_t last, std::size_t from, std::size_t end, std::vector<Pair>* pairs) const {
    for (std::size_t i = first; i < last; ++i)
      for (std::size_t j = from; j < end; ++j)
        if (values[i] > values[j]) pairs->push_back({order[i], order[j]});
  }
};

}  // namespace itersel
