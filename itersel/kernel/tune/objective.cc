#include "tune/objective.hh"

#include <algorithm>
#include <cmath>

#include "base/error.hh"
#include "metrics/ter.hh"

namespace itersel {

double corpus_bleu(const double* sums, std::uint32_t order) {
  const double h = sums[0], r = sums[1];
  const double *matches = sums + 2, *counts = sums + 2 + order;
  if (h <= 0 || std::all_of(matches, matches + order, [](double m) { return m <= 0; })) return 0;
  double logs = 0, smooth = 1;
  for (std::uint32_t n = 0; n < order; ++n) {
    if (counts[n] <= 0) return 0;
    if (matches[n] <= 0) smooth /= 2;  // the k-th order without a match counts as 1/2^k matches
    logs += std::log((matches[n] > 0 ? matches[n] : smooth) / counts[n]);
  }
  return std::exp(logs / order + std::min(0.0, 1 - r / h));
}

double corpus_chrf(const double* sums, std::uint32_t orders) {
  constexpr double kBetaSquared = 4;
  double precision = 0, recall = 0;
  std::uint32_t used = 0;
  for (std::uint32_t n = 0; n < orders; ++n) {
    const double output = sums[3 * n], reference = sums[3 * n + 1], matches = sums[3 * n + 2];
    if (output <= 0 || reference <= 0) continue;
    ++used;
    precision += matches / output;
    recall += matches / reference;
  }
  if (used == 0 || precision + recall == 0) return 0;
  precision /= used;
  recall /= used;
  return (1 + kBetaSquared) * precision * recall / (kBetaSquared * precision + recall);
}

void Objective::add(const std::string& name, double weight, std::uint32_t width) {
  Term term{Kind::kTer, weight, width_, 0};
  if (name == "bleu" && width >= 4 && width % 2 == 0) {
    term.kind = Kind::kBleu;
    term.orders = (width - 2) / 2;
  } else if (name == "chrf" && width >= 3 && width % 3 == 0) {
    term.kind = Kind::kChrf;
    term.orders = width / 3;
  } else if (name != "ter" || width != 2) {
    throw InputError("", "no metric '" + name + "' with " + std::to_string(width) +
                             " columns of statistics; tuning knows bleu, chrf and ter");
  }
  terms_.push_back(term);
  width_ += width;
}

double Objective::score(const double* sums) const {
  double score = 0;
  for (const Term& term : terms_) {
    const double* own = sums + term.begin;
    switch (term.kind) {
      case Kind::kBleu:
        score += term.weight * corpus_bleu(own, term.orders);
        break;
      case Kind::kChrf:
        score += term.weight * corpus_chrf(own, term.orders);
        break;
      case Kind::kTer:
        score += term.weight * (1 - corpus_ter(own));
        break;
    }
  }
  return score;
}

bool Objective::is_below(const double* sums, double score) const {
  if (terms_.size() != 1 || terms_[0].kind != Kind::kBleu || !(score > 0)) return false;
  const std::uint32_t order = terms_[0].orders;
  const double h = sums[0], r = sums[1];
  // score^N ≤ weight^N · Π m/c · exp(1 − r/h)^N; without a match, smoothing would count.
  const double late = std::max(0.0, r / h - 1);
  const double length = 1 + late * (1 + late * (0.5 + late / 6));  // at most exp(late)
  double reached = 1, counts = 1;
  for (std::uint32_t n = 0; n < order; ++n) {
    const double match = sums[2 + n], count = sums[2 + order + n];
    if (!(match > 0 && count > 0)) return false;
    reached *= terms_[0].weight * match;
    counts *= score * length * count;
  }
  return h > 0 && reached < counts * (1 - 1e-9);
}

}  // namespace itersel
