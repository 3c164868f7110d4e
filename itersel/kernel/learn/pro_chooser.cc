// Sampled pairs (Hopkins & May 2011, figure 3): Γ draws of two hypotheses each, with replacement, of which those of at
// least the threshold's difference count, and the Ξ of the largest differences are kept.
//
// Pairs come with the largest difference first, equal ones in the order drawn; a pair may be drawn and kept twice.
#include <algorithm>

#include "base/random.hh"
#include "learn/chooser.hh"

namespace itersel {
namespace {

class ProChooser : public Chooser {
 public:
  explicit ProChooser(const PairOptions& options)
      : samples_(options.samples), threshold_(options.threshold), keep_(options.keep), seed_(options.seed) {}

 private:
  void fill(const Choice& choice, std::vector<Pair>* pairs) const override {
    const std::vector<double>& values = choice.list.metric;
    const auto n = static_cast<std::uint32_t>(values.size());
    const std::uint64_t seed = random_bits(seed_, choice.key);
    for (std::uint64_t k = 0; k < samples_; ++k) {
      std::uint32_t a = random_below(seed, 2 * k, n), b = random_below(seed, 2 * k + 1, n);
      if (values[a] < values[b]) std::swap(a, b);
      if (values[a] > values[b] && values[a] - values[b] >= threshold_) pairs->push_back({a, b});
    }
    std::stable_sort(pairs->begin(), pairs->end(), [&](const Pair& p, const Pair& q) {
      return values[p.better] - values[p.worse] > values[q.better] - values[q.worse];
    });
    if (pairs->size() > keep_) pairs->resize(keep_);
  }

  std::uint32_t samples_;  // Γ
  double threshold_;
  std::uint32_t keep_;  // Ξ
  std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<Chooser> make_pro_chooser(const PairOptions& options) { return std::make_unique<ProChooser>(options); }

}  // namespace itersel
