// The upper envelope of lines: which one is the highest, as a function of x (Och 2003, Macherey et al. 2008).
//
// Lines come one by one and in any order. The envelope of a k-best list has some ten segments, so nearly every line is
// rejected after a look at these: no sorting. A line is above the envelope somewhere only if it is so where two
// segments meet, or if it is steeper than all in one direction; that is tested for many lines at once (lanes.hh).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "tune/lanes.hh"

namespace itersel {

struct Segment {
  double begin;  // where the line becomes the highest; −∞ for the first
  double intercept, slope;
  std::uint32_t line;  // the caller's number
  double top = 0;      // its height at `begin`; of no use for the first
};

class UpperEnvelope {
 public:
  void clear() { segments_.clear(); }

  // Adds the lines numbered `first` … `first + count − 1`, with these intercepts and slopes. Most lines are below the
  // envelope and are not looked at one by one; a few more than needed are.
  void add_all(const double* intercepts, const double* slopes, std::uint32_t first, std::uint32_t count) {
    std::uint32_t at = 0;
    if (count < kGroup || segments_.empty()) {
      for (; at < std::min(count, kGroup); ++at) add(intercepts[at], slopes[at], first + at);
    }
    while (at < count) {
      LineGroup group = next_above(segments_.data(), segments_.size(), intercepts, slopes, at, count);
      for (; group.bits != 0; group.bits &= group.bits - 1) {
        at = group.at + static_cast<std::uint32_t>(__builtin_ctz(group.bits));
        add(intercepts[at], slopes[at], first + at);
      }
      at = std::min(group.at + kGroup, count);
    }
  }

  // By ascending begin and slope.
  const std::vector<Segment>& segments() const { return segments_; }

  // Whether the line became part of the envelope. Of equal lines the one with the lower number stays; a line that only
  // touches the envelope is not part of it.
  bool add(double intercept, double slope, std::uint32_t line) {
    auto right = segments_.begin() + static_cast<std::ptrdiff_t>(first_not_below(slope));
    if (right != segments_.end()) {
      if (right->slope == slope) {
        if (intercept == right->intercept && line < right->line) right->line = line;
        if (intercept <= right->intercept) return false;
      } else if (right != segments_.begin() && intercept + slope * right->begin <= right->top) {
        return false;
      }
    }
    // What the new line hides lies on both sides of its place: [first, last).
    auto first = right, last = right;
    if (last != segments_.end() && last->slope == slope) ++last;
    while (first != segments_.begin() && crossing(*(first - 1), intercept, slope) <= (first - 1)->begin) --first;
    while (last != segments_.end() && last + 1 != segments_.end() &&
           crossing(*last, intercept, slope) >= (last + 1)->begin)
      ++last;
    const double none = -std::numeric_limits<double>::infinity();
    const double begin = first == segments_.begin() ? none : crossing(*(first - 1), intercept, slope);
    if (last != segments_.end()) {
      last->begin = crossing(*last, intercept, slope);
      last->top = height(*last, last->begin);
    }
    const Segment added{begin, intercept, slope, line, intercept + slope * begin};
    if (first == last) {
      segments_.insert(first, added);
    } else {
      *first = added;
      segments_.erase(first + 1, last);
    }
    return true;
  }

 private:
  static constexpr std::size_t kFew = 16;
  // The first segment whose slope is not smaller. Among few, counting is quicker than a search whose branches nobody
  // can predict.
  std::size_t first_not_below(double slope) const {
    if (segments_.size() > kFew) {
      auto below = [](const Segment& segment, double value) { return segment.slope < value; };
      return static_cast<std::size_t>(std::lower_bound(segments_.begin(), segments_.end(), slope, below) -
                                      segments_.begin());
    }
    std::size_t count = 0;
    for (const Segment& segment : segments_) count += segment.slope < slope;
    return count;
  }
  static double height(const Segment& segment, double x) { return segment.intercept + segment.slope * x; }
  // Where a line of another slope crosses the segment's.
  static double crossing(const Segment& segment, double intercept, double slope) {
    return (segment.intercept - intercept) / (slope - segment.slope);
  }

  std::vector<Segment> segments_;
};

}  // namespace itersel
