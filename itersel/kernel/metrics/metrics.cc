#include "metrics/metrics.hh"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/error.hh"
#include "base/named.hh"

namespace itersel {
namespace {

using Score = double (*)(const Statistic*, int);
using Variant = std::pair<StatisticKind, Score>;

double sentence_chrf(const Statistic* row, int) { return chrf(row); }

double sentence_ter(const Statistic* row, int) { return one_minus_ter(row); }

const std::vector<Named<Variant>>& variants() {
  static const std::vector<Named<Variant>> table = {
      {"bleu", {StatisticKind::kBleu, bleu}},
      {"stupid_bleu", {StatisticKind::kBleu, stupid_bleu}},
      {"fixed_stupid_bleu", {StatisticKind::kBleu, fixed_stupid_bleu}},
      {"smooth_bleu", {StatisticKind::kBleu, smooth_bleu}},
      {"chrf", {StatisticKind::kChrf, sentence_chrf}},
      {"ter", {StatisticKind::kTer, sentence_ter}},
  };
  return table;
}

}  // namespace

Metric::Metric(const std::string& name, int order) : order_(order) {
  std::tie(kind_, score_) = find_named("metric", variants(), name);
  if (order < 1 || order > kMaxBleuOrder)
    throw InputError("", "BLEU's n-gram order is " + std::to_string(order) + "; it must be between 1 and " +
                             std::to_string(kMaxBleuOrder));
}

std::uint32_t Metric::width() const {
  if (kind_ == StatisticKind::kBleu) return bleu_width(order_);
  return kind_ == StatisticKind::kChrf ? kChrfWidth : kTerWidth;
}

double Metric::corpus_score(const double* sums) const {
  if (kind_ == StatisticKind::kBleu) return corpus_bleu(sums, order_);
  return kind_ == StatisticKind::kChrf ? chrf(sums) : corpus_ter(sums);
}

SentenceMetric::SentenceMetric(const Metric& metric, std::vector<std::vector<std::uint32_t>> references,
                               WordLookup lookup)
    : metric_(metric) {
  if (references.empty()) throw InputError("", "a sentence needs at least one reference to be scored");
  references.erase(std::remove_if(references.begin(), references.end(), [](const auto& r) { return r.empty(); }),
                   references.end());
  if (metric.kind() == StatisticKind::kChrf) {
    if (!lookup) throw InputError("", "chrf needs the words' spelling");
    chrf_ = std::make_unique<ChrfReferences>(references, std::move(lookup));
  } else if (metric.kind() == StatisticKind::kTer) {
    ter_ = std::make_unique<TerReferences>(std::move(references));
  } else {
    bleu_ = std::make_unique<BleuReferences>(references, metric.order());
  }
}

void SentenceMetric::count(const std::vector<std::uint32_t>& words, Statistic* row) {
  if (chrf_)
    chrf_->count(words, row);
  else if (ter_)
    ter_->count(words, row);
  else
    bleu_->count(words, row);
}

void SentenceMetric::score(const KBestList& list, StatisticRows* statistics, std::vector<double>* scores) {
  statistics->width = metric_.width();
  statistics->values.resize(list.size() * statistics->width);
  scores->resize(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    Statistic* row = statistics->values.data() + i * statistics->width;
    count(list[i].words, row);
    (*scores)[i] = metric_.score(row);
  }
}

}  // namespace itersel
