// A metric in context: what a sentence adds to the corpus score of the translations before it (Chiang et al. 2008).
//
//   score of a row s = C(b) + (n + 1) · (C(b + s) − C(b)),   b ← decay · (b + first row),   n ← decay · (n + 1)
//
// C is the corpus metric, higher is better, and b the sums of the first rows so far, which count as n sentences. So a
// score is what C would be if every sentence changed it as this one does. If the output so far is too short by BLEU's
// brevity penalty, longer hypotheses gain; if it is not, only their precision counts.
#pragma once

#include <vector>

#include "metrics/metrics.hh"
#include "metrics/statistics.hh"

namespace itersel {

class Background {
 public:
  // `decay` is between 0 and 1, exclusively; otherwise it is an InputError.
  Background(const Metric& metric, double decay);

  // Replaces the scores of a list, then adds its first row to the background.
  void rescore(const StatisticRows& statistics, std::vector<double>* scores);

 private:
  double corpus_score(const std::vector<double>& sums) const;

  Metric metric_;
  double decay_, sentences_ = 0;
  std::vector<double> sums_, with_;  // of the background; and of a hypothesis in it
};

}  // namespace itersel
