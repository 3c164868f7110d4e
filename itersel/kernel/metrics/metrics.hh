// Sentence-level metrics over word ids: BLEU and its smoothed variants, and chrF. All values lie in [0, 1].
//
// Several references: matches are clipped by the largest count in any one of them, and r is the length closest to the
// hypothesis' (the shorter one if two are equally close). An empty hypothesis scores 0. Empty references are left out;
// if nothing else remains, every hypothesis scores 0.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "metrics/chrf.hh"
#include "metrics/ngram_table.hh"
#include "model/kbest_list.hh"

namespace itersel {

enum class Metric { kBleu, kStupidBleu, kFixedStupidBleu, kSmoothBleu, kChrf };

// "bleu", "stupid_bleu", "fixed_stupid_bleu", "smooth_bleu", "chrf"; anything else is an InputError that lists them.
Metric metric_of_name(const std::string& name);

constexpr int kMaxBleuOrder = 9;

// What BLEU needs to know of a hypothesis; statistics of a corpus are sums of these.
struct BleuStatistics {
  int order = 4;
  std::array<std::uint32_t, kMaxBleuOrder> matches{};  // m_n at index n − 1, clipped
  std::array<std::uint32_t, kMaxBleuOrder> counts{};   // c_n at index n − 1
  std::uint32_t hypothesis_length = 0;                 // h
  std::uint32_t reference_length = 0;                  // r
};

// The value of a BLEU variant. If r is smaller than the order N, only the orders up to r count, with equal weights:
//   bleu               B(h, r) · exp(mean_n log(m_n / c_n)), 0 if any m_n is 0
//   stupid_bleu        the same with one added to m_n and c_n for n ≥ 2; 0 if m_1 is 0 (Lin & Och 2004)
//   fixed_stupid_bleu  the same with B(h, r + 1) (Nakov et al. 2012)
//   smooth_bleu        B(h, r) · Σ_n BLEU_n / 2^(N − n + 1), up to the first m_n = 0 (Liang et al. 2006)
double bleu_value(Metric metric, const BleuStatistics& statistics);

// A metric against the references of one sentence; tables are built once and serve a whole k-best list. One per thread.
class SentenceMetric {
 public:
  // `lookup` is needed for chrF only.
  SentenceMetric(Metric metric, std::vector<std::vector<std::uint32_t>> references, int order = 4,
                 WordLookup lookup = {});

  double value(const std::vector<std::uint32_t>& words);
  std::vector<double> values(const KBestList& list);
  BleuStatistics statistics(const std::vector<std::uint32_t>& words);

 private:
  Metric metric_;
  int order_;
  std::vector<std::uint32_t> lengths_;  // of the references, ascending
  std::unique_ptr<NgramTable> ngrams_;
  std::unique_ptr<Chrf> chrf_;
};

}  // namespace itersel
