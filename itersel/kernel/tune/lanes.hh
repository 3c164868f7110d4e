// The two loops that a line search spends its time in, several hypotheses at a time: in the wider registers of newer
// x86 processors where there are some, otherwise in those that every machine has. Both give the same bytes: additions
// and multiplications are the same ones in the same order.
#pragma once

#include <cstddef>
#include <cstdint>

namespace itersel {

struct Segment;

// sums[i] = Σ_d weights[d] · features[d · stride + i] for i < count, dimensions in their order, those without a weight
// left out.
void project_rows(const double* features, std::uint64_t stride, std::uint32_t dimensions, const double* weights,
                  double* sums, std::size_t count);

constexpr std::uint32_t kGroup = 8;

// Lines that may be part of an envelope: those numbered `at` + i for each bit i that is set. None: `at` is `count`.
struct LineGroup {
  std::uint32_t at, bits;
};

// The next group, of those from number `at` on, in which a line is not below the envelope everywhere. Of `count` lines
// there are at least kGroup; the envelope has at least one segment. Where rounding decides, a line counts as not below.
LineGroup next_above(const Segment* segments, std::size_t size, const double* intercepts, const double* slopes,
                     std::uint32_t at, std::uint32_t count);

// For tests: whether the wider registers are used, if the machine has them. Returns what was set before.
bool use_wide_registers(bool wanted);

}  // namespace itersel
