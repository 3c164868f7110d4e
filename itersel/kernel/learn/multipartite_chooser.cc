// Multipartite pairs (ACL 2012 §5.1): the list in three levels HI, MID and LOW, and no pairs within a level.
//
// HI and LOW have share · n hypotheses each, rounded half up, at least 1. Ties extend HI downwards, then LOW upwards,
// never into HI. Pairs come in this order: each of HI, best first, with all of MID and LOW, best first; then each of
// MID with all of LOW.
#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.hh"
#include "learn/ranking.hh"

namespace itersel {
namespace {

std::size_t level_size(std::size_t n, double share) { return static_cast<std::size_t>(std::floor(n * share + 0.5)); }

class MultipartiteChooser : public Chooser {
 public:
  explicit MultipartiteChooser(double share) : share_(share) {}

 private:
  void fill(const Choice& choice, std::vector<Pair>* pairs) const override {
    const Ranking ranking(choice.list.metric);
    const std::size_t n = ranking.size();
    std::size_t high = std::min(std::max<std::size_t>(1, level_size(n, share_)), n), low = n - high;
    while (high < n && ranking.values[high] == ranking.values[high - 1]) ++high;
    while (low > high && ranking.values[low - 1] == ranking.values[low]) --low;
    low = std::max(low, high);
    ranking.cross(0, high, high, n, pairs);
    ranking.cross(high, low, low, n, pairs);
  }

  double share_;
};

// dtrain's partXYX. HI against the rest is the same, except that up to four hypotheses give a HI of one without ties
// and no LOW. Its second loop takes LOW's start for LOW's size: with `low` where LOW starts, it pairs ranks high … n −
// low with ranks n − low … n. That range is empty unless ties have made LOW larger than HI.
class DtrainChooser : public Chooser {
 public:
  explicit DtrainChooser(double share) : share_(share) {}

 private:
  void fill(const Choice& choice, std::vector<Pair>* pairs) const override {
    const Ranking ranking(choice.list.metric);
    const std::size_t n = ranking.size(), level = level_size(n, share_);
    std::size_t high = n > 4 ? std::max<std::size_t>(level, 1) : 1, low = n - std::min(level, n);
    if (n > 4)
      while (high < n && ranking.values[high] == ranking.values[high - 1]) ++high;
    while (low > 0 && low < n && ranking.values[low - 1] == ranking.values[low]) --low;
    ranking.cross(0, high, high, n, pairs);
    ranking.cross(high, n - low, n - low, n, pairs);
  }

  double share_;
};

}  // namespace

std::unique_ptr<Chooser> make_multipartite_chooser(const PairOptions& options) {
  if (!(options.share > 0 && options.share <= 0.5))
    throw InputError("", "the share of HI and LOW is " + std::to_string(options.share) + "; it must be in (0, 0.5]");
  if (options.dtrain) return std::make_unique<DtrainChooser>(options.share);
  return std::make_unique<MultipartiteChooser>(options.share);
}

}  // namespace itersel
