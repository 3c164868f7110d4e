#include "learn/columns.hh"

#include <algorithm>
#include <cmath>

#include "base/named.hh"

namespace itersel {

Norm norm_of_name(const std::string& name) {
  static const std::vector<Named<Norm>> table = {
      {"l2", Norm::kL2},
      {"l1", Norm::kL1},
      {"linf", Norm::kLinf},
      {"l0", Norm::kL0},
  };
  return find_named("norm", table, name);
}

ColumnSums sum_columns(const std::uint64_t* ids, const double* values, std::size_t size, Norm norm) {
  ColumnSums result;
  int bits = 4;
  while ((std::size_t{1} << bits) < 2 * size) ++bits;
  const std::size_t mask = (std::size_t{1} << bits) - 1;
  std::vector<std::uint32_t> table(mask + 1, 0);  // column + 1, or 0 for an empty place
  for (std::size_t i = 0; i < size; ++i) {
    std::size_t at = static_cast<std::size_t>((ids[i] * 0x9e3779b97f4a7c15u) >> (64 - bits));
    while (table[at] != 0 && result.ids[table[at] - 1] != ids[i]) at = (at + 1) & mask;
    if (table[at] == 0) {
      result.ids.push_back(ids[i]);
      result.keys.push_back(0);
      result.sums.push_back(0);
      result.counts.push_back(0);
      table[at] = static_cast<std::uint32_t>(result.ids.size());
    }
    const std::uint32_t column = table[at] - 1;
    const double x = values[i];
    double& key = result.keys[column];
    switch (norm) {
      case Norm::kL2:
        key += x * x;
        break;
      case Norm::kL1:
        key += std::fabs(x);
        break;
      case Norm::kLinf:
        key = std::max(key, std::fabs(x));
        break;
      case Norm::kL0:
        key += 1;
        break;
    }
    result.sums[column] += x;
    ++result.counts[column];
  }
  return result;
}

}  // namespace itersel
