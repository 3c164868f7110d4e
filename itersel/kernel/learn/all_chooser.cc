// All pairs: each hypothesis, best first, with all worse ones, best first.
#include "learn/ranking.hh"

namespace itersel {
namespace {

class AllChooser : public Chooser {
  void fill(const Choice& choice, std::vector<Pair>* pairs) const override {
    const Ranking ranking(choice.list.metric);
    for (std::size_t i = 0; i + 1 < ranking.size(); ++i) ranking.cross(i, i + 1, i + 1, ranking.size(), pairs);
  }
};

}  // namespace

std::unique_ptr<Chooser> make_all_chooser(const PairOptions&) { return std::make_unique<AllChooser>(); }

}  // namespace itersel
