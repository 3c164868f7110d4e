#include "tune/lanes.hh"

#include <algorithm>
#include <cstring>

#include "tune/envelope.hh"

// A template is compiled into each function that calls it, for the registers that this function may use.
#define INTO_CALLER inline __attribute__((always_inline))

namespace itersel {
namespace {

// Two numbers at a time, which every machine can do, or four.
struct Two {
  typedef double Lanes __attribute__((vector_size(16)));
  typedef std::int64_t Mask __attribute__((vector_size(16)));
};
struct Four {
  typedef double Lanes __attribute__((vector_size(32)));
  typedef std::int64_t Mask __attribute__((vector_size(32)));
};

template <class Width>
struct Group {
  static constexpr std::uint32_t kLanes = sizeof(typename Width::Lanes) / sizeof(double), kParts = kGroup / kLanes;
  typename Width::Lanes parts[kParts];

  INTO_CALLER Group() : parts{} {}
  INTO_CALLER explicit Group(const double* from) {  // each part on its own: a copy of all would not go to registers
    for (std::uint32_t p = 0; p < kParts; ++p) std::memcpy(&parts[p], from + p * kLanes, sizeof parts[p]);
  }
};

template <class Width>
INTO_CALLER void project_with(const double* const* columns, const double* weights, std::uint32_t used, double* sums,
                              std::size_t count) {
  std::size_t at = 0;
  for (; at + kGroup <= count; at += kGroup) {
    Group<Width> sum;
    for (std::uint32_t k = 0; k < used; ++k) {
      const Group<Width> column(columns[k] + at);
      for (std::uint32_t p = 0; p < Group<Width>::kParts; ++p) sum.parts[p] += weights[k] * column.parts[p];
    }
    for (std::uint32_t p = 0; p < Group<Width>::kParts; ++p)
      std::memcpy(sums + at + p * Group<Width>::kLanes, &sum.parts[p], sizeof sum.parts[p]);
  }
  for (; at < count; ++at) {
    sums[at] = 0;
    for (std::uint32_t k = 0; k < used; ++k) sums[at] += weights[k] * columns[k][at];
  }
}

// A line is above the envelope somewhere only if it is so where two segments meet, or if it is steeper than all in one
// direction. At the first meeting, the height of the left line counts if rounding makes it the lower one, so that a
// line that equals the left one is not below. An envelope of one line is compared at 0, which tells lines as steep.
template <class Width>
INTO_CALLER LineGroup next_above_with(const Segment* segments, std::size_t size, const double* intercepts,
                                      const double* slopes, std::uint32_t at, std::uint32_t count) {
  constexpr std::uint32_t kParts = Group<Width>::kParts;
  const Segment &left = segments[0], &right = segments[size - 1];
  const double first = size == 1 ? 0 : segments[1].begin, height = left.intercept + left.slope * first;
  const double top = size == 1 ? height : std::min(segments[1].top, height);
  while (at < count) {
    // The last group begins earlier than where the one before it ended; its first lines are known then.
    const std::uint32_t known = at + kGroup <= count ? 0 : at + kGroup - count;
    const std::uint32_t begin = at - known;
    const Group<Width> a(intercepts + begin), b(slopes + begin);
    typename Width::Mask above[kParts];
    for (std::uint32_t p = 0; p < kParts; ++p)
      above[p] = (b.parts[p] < left.slope) | (b.parts[p] > right.slope) | (a.parts[p] + b.parts[p] * first >= top);
    for (std::size_t k = 2; k < size; ++k) {
      const double x = segments[k].begin, y = segments[k].top;
      for (std::uint32_t p = 0; p < kParts; ++p) above[p] |= a.parts[p] + b.parts[p] * x >= y;
    }
    typename Width::Mask any = above[0];
    for (std::uint32_t p = 1; p < kParts; ++p) any |= above[p];
    std::int64_t some = any[0];
    for (std::uint32_t lane = 1; lane < Group<Width>::kLanes; ++lane) some |= any[lane];
    if (some != 0) {
      std::int64_t lanes[kGroup];
      std::memcpy(lanes, above, sizeof lanes);
      std::uint32_t bits = 0;
      for (std::uint32_t i = 0; i < kGroup; ++i) bits |= (lanes[i] != 0 ? 1u : 0u) << i;
      bits = bits >> known << known;
      if (bits != 0) return {begin, bits};
    }
    at += kGroup - known;
  }
  return {count, 0};
}

#if defined(__x86_64__)
#define WIDE __attribute__((target("avx2")))
bool has_wide() { return __builtin_cpu_supports("avx2"); }
#else
#define WIDE
bool has_wide() { return false; }
#endif
bool wide = has_wide();

WIDE void project_wide(const double* const* columns, const double* weights, std::uint32_t used, double* sums,
                       std::size_t count) {
  project_with<Four>(columns, weights, used, sums, count);
}

WIDE LineGroup next_above_wide(const Segment* segments, std::size_t size, const double* intercepts,
                               const double* slopes, std::uint32_t at, std::uint32_t count) {
  return next_above_with<Four>(segments, size, intercepts, slopes, at, count);
}

}  // namespace

void project_rows(const double* features, std::uint64_t stride, std::uint32_t dimensions, const double* weights,
                  double* sums, std::size_t count) {
  thread_local std::vector<const double*> columns;
  thread_local std::vector<double> used;
  columns.clear();
  used.clear();
  for (std::uint32_t d = 0; d < dimensions; ++d) {
    if (weights[d] == 0) continue;
    columns.push_back(features + d * stride);
    used.push_back(weights[d]);
  }
  const auto size = static_cast<std::uint32_t>(used.size());
  (wide ? project_wide : project_with<Two>)(columns.data(), used.data(), size, sums, count);
}

LineGroup next_above(const Segment* segments, std::size_t size, const double* intercepts, const double* slopes,
                     std::uint32_t at, std::uint32_t count) {
  return (wide ? next_above_wide : next_above_with<Two>)(segments, size, intercepts, slopes, at, count);
}

bool use_wide_registers(bool wanted) {
  const bool before = wide;
  wide = wanted && has_wide();
  return before;
}

}  // namespace itersel
