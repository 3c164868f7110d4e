// No pairs, for steps that learn from whole lists.
#include "learn/chooser.hh"

namespace itersel {
namespace {

class NoneChooser : public Chooser {
  void fill(const Choice&, std::vector<Pair>*) const override {}
};

}  // namespace

std::unique_ptr<Chooser> make_none_chooser(const PairOptions&) { return std::make_unique<NoneChooser>(); }

}  // namespace itersel
