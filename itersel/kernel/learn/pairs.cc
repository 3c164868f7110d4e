#include "learn/pairs.hh"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.hh"
#include "base/random.hh"

namespace itersel {
namespace {

// The list's indices by metric value, best first, and the values in that order.
struct Ranking {
  std::vector<std::uint32_t> order;
  std::vector<double> values;

  explicit Ranking(const std::vector<double>& given) : order(given.size()) {
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return given[a] > given[b]; });
    for (const std::uint32_t i : order) values.push_back(given[i]);
  }

  // Pairs every rank in [first, last) with every rank in [from, end) of lower value.
  void cross(std::size_t first, std::size_t last, std::size_t from, std::size_t end, std::vector<Pair>* pairs) const {
    for (std::size_t i = first; i < last; ++i)
      for (std::size_t j = from; j < end; ++j)
        if (values[i] > values[j]) pairs->push_back({order[i], order[j]});
  }
};

void multipartite(const Ranking& ranking, double share, std::vector<Pair>* pairs) {
  const std::size_t n = ranking.order.size();
  const auto level = std::max<std::size_t>(1, static_cast<std::size_t>(std::floor(n * share + 0.5)));
  std::size_t high = std::min(level, n), low = n - high;
  while (high < n && ranking.values[high] == ranking.values[high - 1]) ++high;
  while (low > high && ranking.values[low - 1] == ranking.values[low]) --low;
  low = std::max(low, high);
  ranking.cross(0, high, high, n, pairs);
  ranking.cross(high, low, low, n, pairs);
}

// dtrain's partXYX: HI against the rest is as above, except that up to four hypotheses give a HI of one without ties
// and no LOW. Its second loop takes LOW's start for LOW's size: with `low` where LOW starts, it pairs ranks high … n −
// low with ranks n − low … n. That range is empty unless LOW has grown by ties beyond HI.
void multipartite_as_dtrain(const Ranking& ranking, double share, std::vector<Pair>* pairs) {
  const std::size_t n = ranking.order.size();
  const auto level = static_cast<std::size_t>(std::floor(n * share + 0.5));
  std::size_t high = n > 4 ? std::max<std::size_t>(level, 1) : 1, low = n - std::min(level, n);
  if (n > 4)
    while (high < n && ranking.values[high] == ranking.values[high - 1]) ++high;
  while (low > 0 && low < n && ranking.values[low - 1] == ranking.values[low]) --low;
  ranking.cross(0, high, high, n, pairs);
  ranking.cross(high, n - low, n - low, n, pairs);
}

void pro(const std::vector<double>& values, const PairOptions& options, std::uint64_t sentence,
         std::vector<Pair>* pairs) {
  const auto n = static_cast<std::uint32_t>(values.size());
  const std::uint64_t seed = random_bits(options.seed, sentence);
  for (std::uint32_t k = 0; k < options.samples; ++k) {
    std::uint32_t a = random_below(seed, 2 * std::uint64_t{k}, n), b = random_below(seed, 2 * std::uint64_t{k} + 1, n);
    if (values[a] < values[b]) std::swap(a, b);
    if (values[a] > values[b] && values[a] - values[b] >= options.threshold) pairs->push_back({a, b});
  }
  std::stable_sort(pairs->begin(), pairs->end(), [&](const Pair& p, const Pair& q) {
    return values[p.better] - values[p.worse] > values[q.better] - values[q.worse];
  });
  if (pairs->size() > options.keep) pairs->resize(options.keep);
}

}  // namespace

PairKind pair_kind_of_name(const std::string& name) {
  if (name == "multipartite") return PairKind::kMultipartite;
  if (name == "all") return PairKind::kAll;
  if (name == "pro") return PairKind::kPro;
  throw InputError("", "unknown kind of pairs '" + name + "'; there are multipartite, all and pro");
}

void make_pairs(const std::vector<double>& values, const PairOptions& options, std::uint64_t sentence,
                std::vector<Pair>* pairs) {
  pairs->clear();
  for (const double value : values)
    if (!std::isfinite(value)) throw InputError("", "a metric value is not a finite number: pairs cannot be ranked");
  if (!(options.share > 0 && options.share <= 0.5))
    throw InputError("", "the share of HI and LOW is " + std::to_string(options.share) + "; it must be in (0, 0.5]");
  if (values.size() < 2) return;
  if (options.kind == PairKind::kPro) return pro(values, options, sentence, pairs);
  const Ranking ranking(values);
  if (options.kind == PairKind::kAll) {
    for (std::size_t i = 0; i + 1 < values.size(); ++i) ranking.cross(i, i + 1, i + 1, values.size(), pairs);
  } else if (options.dtrain) {
    multipartite_as_dtrain(ranking, options.share, pairs);
  } else {
    multipartite(ranking, options.share, pairs);
  }
}

}  // namespace itersel
