// What tuning maximises: a weighted sum of corpus metrics, each a function of summed statistics in sacrebleu's order.
//
//   bleu   h, r, m_1 … m_N, c_1 … c_N                        sacrebleu's BLEU with `exp` smoothing, in [0, 1]
//   chrf   for each order: n-grams of hypothesis and reference, matches     chrF2, in [0, 1]
//   ter    edits, length of the references                   1 − TER, so that higher is better
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace itersel {

double corpus_bleu(const double* sums, std::uint32_t order);
double corpus_chrf(const double* sums, std::uint32_t orders);

class Objective {
 public:
  // Adds a metric ("bleu", "chrf", "ter") that reads the next `width` columns. An unknown name or a width that does not
  // fit it is an InputError.
  void add(const std::string& name, double weight, std::uint32_t width);

  std::uint32_t width() const { return width_; }
  double score(const double* sums) const;
  // Whether the score is certainly lower than this one, which is found without logarithms. Only for BLEU alone; other
  // objectives never say so.
  bool is_below(const double* sums, double score) const;

 private:
  enum class Kind { kBleu, kChrf, kTer };
  struct Term {
    Kind kind;
    double weight;
    std::uint32_t begin, orders;
  };
  std::vector<Term> terms_;
  std::uint32_t width_ = 0;
};

}  // namespace itersel
