#include "tune/surface.hh"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

namespace itersel {

template <class Value>
void SurfaceBuilder<Value>::add(const Surface& surface) {
  for (std::uint32_t k = 0; k < width_; ++k) base_[k] += surface.base[k];
  const std::uint64_t first = values_.size();
  for (std::size_t at = 0; at < surface.points.size(); ++at)
    changes_.push_back({surface.points[at], first + at * width_});
  values_.insert(values_.end(), surface.small.begin(), surface.small.end());
  values_.insert(values_.end(), surface.large.begin(), surface.large.end());
}

namespace {

// Whether all are whole numbers that a 16-bit integer can hold; appends them as such if so.
bool append_short(const std::vector<double>& values, std::vector<std::int16_t>& out) {
  for (const double value : values)
    if (!(value >= -32768 && value <= 32767 && value == std::trunc(value))) return false;
  for (const double value : values) out.push_back(static_cast<std::int16_t>(value));
  return true;
}

// Numbers as integers of the same order.
std::uint64_t ordered_bits(double value) {
  value += 0.0;  // −0 becomes 0
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

// Sorts by point: by the upper 33 bits in three passes, which leaves few neighbours to exchange.
template <class Change>
void sort_by_point(std::vector<Change>& changes) {
  constexpr std::uint32_t kBits = 11, kPasses = 3, kRange = 1u << kBits;
  const auto below = [](const Change& one, const Change& other) { return one.point < other.point; };
  if (changes.size() < kRange / 4) {
    std::stable_sort(changes.begin(), changes.end(), below);
    return;
  }
  const auto digit = [](const Change& change, std::uint32_t pass) {
    return (ordered_bits(change.point) >> (64 - kBits * (kPasses - pass))) & (kRange - 1);
  };
  std::vector<std::uint32_t> ends(kPasses * kRange);
  for (const Change& change : changes)
    for (std::uint32_t pass = 0; pass < kPasses; ++pass) ++ends[pass * kRange + digit(change, pass)];
  std::vector<Change> sorted(changes.size());
  for (std::uint32_t pass = 0; pass < kPasses; ++pass) {
    std::uint32_t* begins = ends.data() + pass * kRange;
    for (std::uint32_t k = 0, begin = 0; k < kRange; ++k) begin += std::exchange(begins[k], begin);
    for (const Change& change : changes) sorted[begins[digit(change, pass)]++] = change;
    changes.swap(sorted);
  }
  for (auto at = changes.begin(); at != changes.end();) {
    auto end = at + 1;  // [at, end): as far as points do not ascend by their upper bits
    constexpr std::uint32_t kRest = 64 - kBits * kPasses;
    while (end != changes.end() && ordered_bits(end->point) >> kRest == ordered_bits(at->point) >> kRest) ++end;
    if (end - at > 1) std::stable_sort(at, end, below);
    at = end;
  }
}

}  // namespace

template <class Value>
Surface SurfaceBuilder<Value>::finish() {
  sort_by_point(changes_);
  Surface surface{std::move(base_), {}, {}, {}};
  surface.points.reserve(changes_.size());
  surface.small.reserve(changes_.size() * width_);
  std::vector<double> sum(width_);
  for (std::size_t at = 0; at < changes_.size();) {
    const double point = changes_[at].point + 0.0;  // −0 becomes 0, as their order depends on other lines
    const Value* values = values_.data() + changes_[at].at;
    if constexpr (std::is_same_v<Value, std::int16_t>) {
      const bool alone = at + 1 == changes_.size() || changes_[at + 1].point != point;
      if (alone && surface.large.empty()) {  // nearly all are, and none is all zero
        surface.points.push_back(point);
        surface.small.insert(surface.small.end(), values, values + width_);
        ++at;
        continue;
      }
    }
    std::fill(sum.begin(), sum.end(), 0.0);
    for (; at < changes_.size() && changes_[at].point == point; ++at)
      for (std::uint32_t k = 0; k < width_; ++k) sum[k] += values_[changes_[at].at + k];
    if (std::all_of(sum.begin(), sum.end(), [](double value) { return value == 0; })) continue;
    surface.points.push_back(point);
    if (surface.large.empty() && append_short(sum, surface.small)) continue;
    surface.large.insert(surface.large.end(), surface.small.begin(), surface.small.end());
    surface.small.clear();
    surface.large.insert(surface.large.end(), sum.begin(), sum.end());
  }
  base_.assign(width_, 0.0);
  values_.clear();
  changes_.clear();
  return surface;
}

template class SurfaceBuilder<std::int16_t>;
template class SurfaceBuilder<double>;

namespace {

constexpr std::size_t kLinesAtATime = 64;

// Whether differences of statistics within a list are whole numbers that a 16-bit integer holds, as nearly always.
bool has_small_differences(const ListBlock& block) {
  const auto fits = [](float value) { return value > -16384 && value < 16384 && value == std::trunc(value); };
  for (std::uint64_t list = 0; list < block.lists; ++list) {
    const float* first = block.statistics + static_cast<std::uint64_t>(block.offsets[list]) * block.width;
    const float* end = block.statistics + static_cast<std::uint64_t>(block.offsets[list + 1]) * block.width;
    bool small = true;
    for (const float* row = first; row != end; row += block.width)
      for (std::uint32_t k = 0; k < block.width; ++k) small &= row[k] == first[k] || (fits(row[k]) && fits(first[k]));
    if (!small) return false;
  }
  return true;
}

// The dimension of a direction that is one coordinate with weight 1, or none.
std::uint32_t only_dimension(const double* direction, std::uint32_t dimensions) {
  std::uint32_t only = dimensions;
  for (std::uint32_t d = 0; d < dimensions; ++d) {
    if (direction[d] == 0) continue;
    if (only != dimensions || direction[d] != 1) return dimensions;
    only = d;
  }
  return only;
}

// How many lines, from the first, have its origin.
std::size_t same_origin(const double* origins, std::size_t lines, std::uint32_t dimensions) {
  std::size_t count = 1;
  while (count < lines && std::equal(origins, origins + dimensions, origins + count * dimensions)) ++count;
  return count;
}

template <class Value>
std::vector<Surface> surfaces_with(const ListBlock& block, const double* origins, const double* directions,
                                   std::size_t lines) {
  std::vector<Surface> surfaces;
  std::vector<double> intercepts, sums;
  // What was on the envelope of a list and the line in the same place after the last origin, is tried first: most
  // others are then below the envelope from the beginning.
  std::vector<std::vector<std::uint32_t>> winners;
  UpperEnvelope envelope;
  for (std::size_t from = 0; from < lines;) {
    // Lines from several origins at a time, list by list, so that a list stays in the cache.
    std::vector<std::size_t> counts;
    std::size_t until = from, most = 0;
    while (until < lines && until - from < kLinesAtATime) {
      const double* origin = origins + until * block.dimensions;
      counts.push_back(same_origin(origin, lines - until, block.dimensions));
      most = std::max(most, counts.back());
      until += counts.back();
    }
    std::vector<SurfaceBuilder<Value>> builders(until - from, SurfaceBuilder<Value>(block.width));
    if (winners.size() < most * block.lists) winners.resize(most * block.lists);
    for (std::uint64_t list = 0; list < block.lists; ++list) {
      const std::int64_t begin = block.offsets[list], end = block.offsets[list + 1];
      const auto first = static_cast<std::uint32_t>(begin), rows = static_cast<std::uint32_t>(end - begin);
      const double* features = block.features + begin;
      intercepts.resize(rows);
      sums.resize(rows);
      std::size_t line = from;
      for (const std::size_t count : counts) {
        const double* origin = origins + line * block.dimensions;
        project_rows(features, block.rows, block.dimensions, origin, intercepts.data(), rows);
        const auto best =
            static_cast<std::size_t>(std::max_element(intercepts.begin(), intercepts.end()) - intercepts.begin());
        for (std::size_t k = 0; k < count; ++k, ++line) {
          const double* slopes = sums.data();
          const double* along = directions + line * block.dimensions;
          if (const std::uint32_t only = only_dimension(along, block.dimensions); only < block.dimensions) {
            slopes = features + only * block.rows;
          } else {
            project_rows(features, block.rows, block.dimensions, along, sums.data(), rows);
          }
          std::vector<std::uint32_t>& tried = winners[k * block.lists + list];
          envelope.clear();
          envelope.add(intercepts[best], slopes[best], first + static_cast<std::uint32_t>(best));
          for (const std::uint32_t row : tried) envelope.add(intercepts[row - first], slopes[row - first], row);
          envelope.add_all(intercepts.data(), slopes, first, rows);
          builders[line - from].add(envelope.segments(), [&](std::uint32_t row) {
            return block.statistics + row * std::uint64_t{block.width};
          });
          tried.resize(envelope.segments().size());
          for (std::size_t at = 0; at < tried.size(); ++at) tried[at] = envelope.segments()[at].line;
        }
      }
    }
    for (SurfaceBuilder<Value>& builder : builders) surfaces.push_back(builder.finish());
    from = until;
  }
  return surfaces;
}

}  // namespace

std::vector<Surface> list_surfaces(const ListBlock& block, const double* origins, const double* directions,
                                   std::size_t lines) {
  return has_small_differences(block) ? surfaces_with<std::int16_t>(block, origins, directions, lines)
                                      : surfaces_with<double>(block, origins, directions, lines);
}

namespace {

// A point inside of the interval: its middle, or `reach` into an interval without an end.
double inside(double begin, double end, double reach) {
  if (std::isinf(begin) && std::isinf(end)) return 0;
  if (std::isinf(begin)) return end - reach;
  if (std::isinf(end)) return begin + reach;
  return begin + (end - begin) / 2;
}

template <class Value>
LineStep best_step_over(const Surface& surface, const Value* changes, const Objective& objective,
                        const StepRange& range) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::uint32_t width = objective.width();
  std::vector<double> sums = surface.base, best_sums, zero_sums;
  LineStep best{0, -infinity, 0, {}};
  for (std::size_t at = 0; at <= surface.points.size(); ++at) {
    const double from = at == 0 ? -infinity : surface.points[at - 1];
    const double to = at == surface.points.size() ? infinity : surface.points[at];
    if (at > 0)
      for (std::uint32_t k = 0; k < width; ++k) sums[k] += changes[(at - 1) * width + k];
    const bool has_zero = from <= 0 && 0 <= to;
    const double begin = std::max(from, range.low), end = std::min(to, range.high);
    if (!has_zero && !(end - begin >= range.least_width)) continue;
    if (!has_zero && objective.is_below(sums.data(), best.score)) continue;
    const double score = objective.score(sums.data());
    if (has_zero && (zero_sums.empty() || score < best.before)) {
      best.before = score;
      zero_sums = sums;
    }
    if (!(end - begin >= range.least_width)) continue;
    const double step = inside(begin, end, range.reach);
    const bool nearer = std::abs(step) < std::abs(best.step);  // the negative one of two comes first
    if (score > best.score || (score == best.score && nearer)) {
      best.score = score;
      best.step = step;
      best_sums = sums;
    }
  }
  if (!(best.score > best.before)) return {0, best.before, best.before, zero_sums};
  best.sums = std::move(best_sums);
  return best;
}

}  // namespace

LineStep best_step(const Surface& surface, const Objective& objective, const StepRange& range) {
  return surface.large.empty() ? best_step_over(surface, surface.small.data(), objective, range)
                               : best_step_over(surface, surface.large.data(), objective, range);
}

}  // namespace itersel
