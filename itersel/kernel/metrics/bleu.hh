// BLEU and its smoothed sentence-level variants as functions of sufficient statistics.
//
// A row has 2 N + 2 columns for n-grams up to N: the hypothesis' length h, the reference's length r, the clipped
// matches m_1 … m_N, and the numbers of n-grams of the hypothesis c_1 … c_N.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "metrics/ngram_table.hh"
#include "metrics/statistics.hh"

namespace itersel {

constexpr int kMaxBleuOrder = 9;

constexpr std::uint32_t bleu_width(int order) { return 2 * static_cast<std::uint32_t>(order) + 2; }

// Sentence scores in [0, 1]. B(h, r) is 1 if h > r, otherwise exp(1 − r / h). If r is smaller than N, only the orders
// up to r count, with equal weights. An empty side scores 0.

// B(h, r) · exp(mean_n log(m_n / c_n)), 0 if any m_n is 0.
double bleu(const Statistic* row, int order);
// The same with one added to m_n and c_n for n ≥ 2; 0 if m_1 is 0 (Lin & Och 2004).
double stupid_bleu(const Statistic* row, int order);
// The same with B(h, r + 1) (Nakov et al. 2012).
double fixed_stupid_bleu(const Statistic* row, int order);
// B(h, r) · Σ_n BLEU_n / 2^(N − n + 1), up to the first m_n = 0 (Liang et al. 2006).
double smooth_bleu(const Statistic* row, int order);

// sacrebleu's BLEU of a corpus, in [0, 1], from the sums of its sentences' rows: the k-th order without a match counts
// as 1 / 2^k matches; 0 if nothing matches or an order has no n-grams.
double corpus_bleu(const double* sums, int order);

// The length r of the references for a hypothesis of length h: the closest one, the shorter of two equally close ones.
// `lengths` ascend; 0 if there are none.
std::uint32_t closest_length(const std::vector<std::uint32_t>& lengths, std::uint32_t h);

// The references of one sentence. Several references: matches are clipped by the largest count in any one of them.
class BleuReferences {
 public:
  BleuReferences(const std::vector<std::vector<std::uint32_t>>& references, int order);

  // Writes the row of a hypothesis.
  void count(const std::vector<std::uint32_t>& words, Statistic* row);

 private:
  int order_;
  std::vector<std::uint32_t> lengths_;  // ascending
  NgramTable ngrams_;
};

}  // namespace itersel
