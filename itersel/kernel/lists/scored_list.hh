// A k-best list with what its metric says about each hypothesis: what choosers and learners work on.
#pragma once

#include <vector>

#include "metrics/statistics.hh"
#include "model/kbest_list.hh"

namespace itersel {

struct ScoredList {
  KBestList hypotheses;
  std::vector<double> metric;  // higher is better
  StatisticRows statistics;    // of width 0 if the metric values come from outside
};

}  // namespace itersel
