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
    std::vector<Draw> draws;
    draws.reserve(samples_);
    for (std::uint32_t k = 0; k < samples_; ++k) {
      const std::uint64_t counter = 2 * std::uint64_t{k};
      std::uint32_t a = random_below(seed, counter, n), b = random_below(seed, counter + 1, n);
      if (values[a] < values[b]) std::swap(a, b);
      const double difference = values[a] - values[b];
      if (difference > 0 && difference >= threshold_) draws.push_back({difference, k, {a, b}});
    }
    // Only what is kept needs to be sorted.
    if (draws.size() > keep_) {
      std::nth_element(draws.begin(), draws.begin() + keep_, draws.end(), comes_first);
      draws.resize(keep_);
    }
    std::sort(draws.begin(), draws.end(), comes_first);
    for (const Draw& draw : draws) pairs->push_back(draw.pair);
  }

  struct Draw {
    double difference;
    std::uint32_t number;
    Pair pair;
  };
  static bool comes_first(const Draw& a, const Draw& b) {
    return a.difference != b.difference ? a.difference > b.difference : a.number < b.number;
  }

  std::uint32_t samples_;  // Γ
  double threshold_;
  std::uint32_t keep_;  // Ξ
  std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<Chooser> make_pro_chooser(const PairOptions& options) { return std::make_unique<ProChooser>(options); }

}  // namespace itersel
