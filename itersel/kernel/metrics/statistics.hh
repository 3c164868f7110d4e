// Sufficient statistics: the few numbers per hypothesis that a metric is a function of.
//
// The statistics of a corpus are the sums of its sentences' rows, so sentence scores and corpus scores need nothing
// else. Rows have sacrebleu's order of columns (bleu.hh, chrf.hh).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace itersel {

// Counts of one sentence are exact in a float up to 2^24; a mean length of several references has room, too.
using Statistic = float;

// One row per hypothesis. The width is 0 if there are none, for want of references.
struct StatisticRows {
  std::uint32_t width = 0;
  std::vector<Statistic> values;

  const Statistic* row(std::size_t hypothesis) const { return values.data() + hypothesis * width; }
};

}  // namespace itersel
