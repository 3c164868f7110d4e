// Metrics by name, for sentences and corpora, over word ids.
//
// An empty hypothesis scores 0. Empty references are left out; if nothing else remains, every hypothesis scores 0.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "metrics/bleu.hh"
#include "metrics/chrf.hh"
#include "metrics/statistics.hh"
#include "metrics/ter.hh"
#include "model/kbest_list.hh"

namespace itersel {

// What the statistics of a row are, and so which corpus metric they serve.
enum class StatisticKind { kBleu, kChrf, kTer };

// A sentence metric with the longest n-gram it counts.
class Metric {
 public:
  // "bleu", "stupid_bleu", "fixed_stupid_bleu", "smooth_bleu", or "chrf" and "ter", of which the order has no effect.
  // Another name and an order that is not between 1 and kMaxBleuOrder are InputErrors.
  Metric(const std::string& name, int order);

  StatisticKind kind() const { return kind_; }
  int order() const { return order_; }
  std::uint32_t width() const;
  // At most 1, the higher the better; only 1 − TER can be negative.
  double score(const Statistic* row) const { return score_(row, order_); }
  // As sacrebleu computes it, divided by 100: the same for all variants of BLEU. Of TER, lower is better.
  double corpus_score(const double* sums) const;

 private:
  StatisticKind kind_;
  double (*score_)(const Statistic* row, int order);
  int order_;
};

// A metric against the references of one sentence; tables are built once and serve a whole k-best list. One per thread.
class SentenceMetric {
 public:
  // `lookup` is needed for chrF only. No reference at all is an InputError.
  SentenceMetric(const Metric& metric, std::vector<std::vector<std::uint32_t>> references, WordLookup lookup = {});

  // Writes the metric's width() numbers.
  void count(const std::vector<std::uint32_t>& words, Statistic* row);
  // A row and a score for each hypothesis.
  void score(const KBestList& list, StatisticRows* statistics, std::vector<double>* scores);

 private:
  Metric metric_;
  std::unique_ptr<BleuReferences> bleu_;
  std::unique_ptr<ChrfReferences> chrf_;
  std::unique_ptr<TerReferences> ter_;
};

}  // namespace itersel
