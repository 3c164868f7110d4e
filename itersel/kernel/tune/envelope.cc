#include "tune/envelope.hh"

#include <cstring>

namespace itersel {
namespace {

// Two numbers at a time, which every machine can do, and two of these, so that it need not wait for one of them.
typedef double Lanes __attribute__((vector_size(16)));
typedef std::int64_t Mask __attribute__((vector_size(16)));
constexpr std::uint32_t kWidth = 2, kStep = 2 * kWidth;

Lanes load(const double* from) {
  Lanes made;
  std::memcpy(&made, from, sizeof made);
  return made;
}

// Whether the lines are steeper than the envelope's ends, or as steep and as high.
Mask beyond(const Segment& left, const Segment& right, Lanes intercept, Lanes slope) {
  return (slope < left.slope) | (slope > right.slope) | ((slope == left.slope) & (intercept >= left.intercept)) |
         ((slope == right.slope) & (intercept >= right.intercept));
}

}  // namespace

std::uint32_t UpperEnvelope::next_above(const double* intercepts, const double* slopes, std::uint32_t at,
                                        std::uint32_t count) const {
  const Segment &left = segments_.front(), &right = segments_.back();
  for (; at + kStep <= count; at += kStep) {
    const Lanes a = load(intercepts + at), b = load(slopes + at);
    const Lanes c = load(intercepts + at + kWidth), d = load(slopes + at + kWidth);
    Mask one = beyond(left, right, a, b), other = beyond(left, right, c, d);
    for (std::size_t k = 1; k < segments_.size(); ++k) {
      const double x = segments_[k].begin, y = segments_[k].top;
      one |= a + b * x >= y;
      other |= c + d * x >= y;
    }
    const Mask any = one | other;
    if ((any[0] | any[1]) == 0) continue;
    return at + (one[0] != 0 ? 0 : one[1] != 0 ? 1 : other[0] != 0 ? 2 : 3);
  }
  return at;
}

}  // namespace itersel
