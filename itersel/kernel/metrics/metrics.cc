#include "metrics/metrics.hh"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hh"

namespace itersel {
namespace {

double brevity_penalty(double h, double r) { return h > r ? 1 : std::exp(1 - r / h); }

}  // namespace

Metric metric_of_name(const std::string& name) {
  if (name == "bleu") return Metric::kBleu;
  if (name == "stupid_bleu") return Metric::kStupidBleu;
  if (name == "fixed_stupid_bleu") return Metric::kFixedStupidBleu;
  if (name == "smooth_bleu") return Metric::kSmoothBleu;
  if (name == "chrf") return Metric::kChrf;
  throw InputError(
      "", "unknown metric '" + name + "'; the kernel knows bleu, stupid_bleu, fixed_stupid_bleu, smooth_bleu and chrf");
}

double bleu_value(Metric metric, const BleuStatistics& statistics) {
  const double h = statistics.hypothesis_length, r = statistics.reference_length;
  if (h == 0 || r == 0) return 0;
  const int order = static_cast<int>(std::min<double>(statistics.order, r));
  const bool add_one = metric == Metric::kStupidBleu || metric == Metric::kFixedStupidBleu;
  double logs = 0, smoothed = 0;
  for (int n = 1; n <= order; ++n) {
    const std::uint32_t m = statistics.matches[n - 1], c = statistics.counts[n - 1];
    const double one = add_one && n > 1 ? 1 : 0;
    if (m + one == 0) {
      if (metric == Metric::kSmoothBleu) break;
      return 0;
    }
    logs += std::log((m + one) / (c + one));
    if (metric == Metric::kSmoothBleu) smoothed += std::exp(logs / n) / std::ldexp(1.0, order - n + 1);
  }
  if (metric == Metric::kSmoothBleu) return brevity_penalty(h, r) * smoothed;
  return brevity_penalty(h, metric == Metric::kFixedStupidBleu ? r + 1 : r) * std::exp(logs / order);
}

SentenceMetric::SentenceMetric(Metric metric, std::vector<std::vector<std::uint32_t>> references, int order,
                               WordLookup lookup)
    : metric_(metric), order_(order) {
  if (references.empty()) throw InputError("", "a sentence needs at least one reference to be scored");
  if (order < 1 || order > kMaxBleuOrder)
    throw InputError("", "BLEU's n-gram order is " + std::to_string(order) + "; it must be between 1 and " +
                             std::to_string(kMaxBleuOrder));
  references.erase(std::remove_if(references.begin(), references.end(), [](const auto& r) { return r.empty(); }),
                   references.end());
  for (const auto& reference : references) lengths_.push_back(static_cast<std::uint32_t>(reference.size()));
  std::sort(lengths_.begin(), lengths_.end());
  if (metric == Metric::kChrf) {
    if (!lookup) throw InputError("", "chrf needs the words' spelling");
    chrf_ = std::make_unique<Chrf>(references, std::move(lookup));
  } else {
    ngrams_ = std::make_unique<NgramTable>(references, order);
  }
}

BleuStatistics SentenceMetric::statistics(const std::vector<std::uint32_t>& words) {
  if (!ngrams_) throw InputError("", "chrf has no BLEU statistics: ask for them with a BLEU metric");
  BleuStatistics result;
  result.order = order_;
  const auto h = static_cast<std::uint32_t>(words.size());
  result.hypothesis_length = h;
  std::uint32_t closest = ~0u;
  for (const std::uint32_t length : lengths_) {  // ascending, so the shorter of two equally close ones stays
    const std::uint32_t distance = length > h ? length - h : h - length;
    if (distance < closest) {
      closest = distance;
      result.reference_length = length;
    }
  }
  for (int n = 1; n <= order_; ++n) result.counts[n - 1] = words.size() >= static_cast<std::size_t>(n) ? h - n + 1 : 0;
  ngrams_->match(words.data(), words.size(), result.matches.data());
  return result;
}

double SentenceMetric::value(const std::vector<std::uint32_t>& words) {
  return chrf_ ? (*chrf_)(words) : bleu_value(metric_, statistics(words));
}

std::vector<double> SentenceMetric::values(const KBestList& list) {
  std::vector<double> result;
  result.reserve(list.size());
  for (const Hypothesis& hypothesis : list) result.push_back(value(hypothesis.words));
  return result;
}

}  // namespace itersel
