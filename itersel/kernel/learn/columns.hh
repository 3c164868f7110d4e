// Columns of the stacked weight matrix from its entries: the inner loop of mixing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace itersel {

enum class Norm { kL2, kL1, kLinf, kL0 };

// "l2", "l1", "linf", "l0"; anything else is an InputError that lists them.
Norm norm_of_name(const std::string& name);

// In the order in which ids first occur.
struct ColumnSums {
  std::vector<std::uint64_t> ids;
  std::vector<double> keys;  // Σ x², Σ |x|, max |x|, or the number of entries
  std::vector<double> sums;
  std::vector<std::uint32_t> counts;
};

// Entries of the same id are added one by one in the order given, so that shard order decides the last bit of a sum.
ColumnSums sum_columns(const std::uint64_t* ids, const double* values, std::size_t size, Norm norm);

}  // namespace itersel
