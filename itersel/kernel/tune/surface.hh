// Error surfaces: the statistics of what is ranked first, as a step function of the step x along a line of weights.
//
// A surface is a function of the data alone, so those of shards can be merged in any grouping. Statistics are whole
// numbers (or constant over a list), so sums are exact.
#pragma once

#include <cstdint>
#include <vector>

#include "tune/envelope.hh"
#include "tune/objective.hh"

namespace itersel {

struct Surface {
  std::vector<double> base;    // sums of the statistics at x = −∞
  std::vector<double> points;  // strictly ascending: where they change
  // Row i is added at points[i]; no row is all zero. Rows of small whole numbers, nearly all are, take little space:
  // either all are in `small` or all in `large`.
  std::vector<std::int16_t> small;
  std::vector<double> large;
};

// Lists as columns: feature (dimension) d of hypothesis i is features[d · rows + i].
struct ListBlock {
  const double* features;
  std::uint32_t dimensions;
  std::uint64_t rows;
  const std::int64_t* offsets;  // list s has the rows offsets[s] … offsets[s + 1] − 1, at least one
  std::uint64_t lists;
  const float* statistics;  // by row
  std::uint32_t width;
};

// Collects what is added where, in any order of x. `Value` must hold every difference of statistics: std::int16_t or,
// for any, double.
template <class Value>
class SurfaceBuilder {
 public:
  explicit SurfaceBuilder(std::uint32_t width) : width_(width), base_(width, 0.0) {}

  // A sentence's segments, each with its row of statistics.
  template <class RowOf>
  void add(const std::vector<Segment>& segments, RowOf row_of);
  void add(const Surface& surface);
  Surface finish();

 private:
  struct Change {
    double point;
    std::uint64_t at;  // into values_
  };
  std::uint32_t width_;
  std::vector<double> base_;
  std::vector<Value> values_;
  std::vector<Change> changes_;
};

// The surface of every line origins[q] + x · directions[q], each of `dimensions` numbers. Of hypotheses that are
// equally good everywhere, the earlier one counts.
std::vector<Surface> list_surfaces(const ListBlock& block, const double* origins, const double* directions,
                                   std::size_t lines);

struct StepRange {
  double low, high;    // steps that are allowed; they may be infinite
  double least_width;  // narrower intervals are passed over: rounding could put their middle outside
  double reach;        // how far beyond the last point a step goes into an interval without an end
};

struct LineStep {
  double step;
  double score;   // of the interval that the step lies in
  double before;  // the score at x = 0; where that is a point, the lower one of its two sides
  std::vector<double> sums;
};

// The best interval's middle. An interval includes its beginning and not its end; the parts outside of the range are
// cut off. Equal scores: no step at all if the interval of 0 is among them; otherwise the step nearest to 0, and of two
// equally near the negative one.
LineStep best_step(const Surface& surface, const Objective& objective, const StepRange& range);

template <class Value>
template <class RowOf>
void SurfaceBuilder<Value>::add(const std::vector<Segment>& segments, RowOf row_of) {
  const float* row = row_of(segments.front().line);
  for (std::uint32_t k = 0; k < width_; ++k) base_[k] += row[k];
  for (std::size_t at = 1; at < segments.size(); ++at) {
    const float* next = row_of(segments[at].line);
    if (std::equal(row, row + width_, next)) continue;
    const std::size_t begin = values_.size();
    changes_.push_back({segments[at].begin, begin});
    values_.resize(begin + width_);
    for (std::uint32_t k = 0; k < width_; ++k)
      values_[begin + k] = static_cast<Value>(static_cast<double>(next[k]) - static_cast<double>(row[k]));
    row = next;
  }
}

}  // namespace itersel
