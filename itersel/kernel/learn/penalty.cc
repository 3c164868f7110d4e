#include "learn/penalty.hh"

#include <string>

#include "base/error.hh"

namespace itersel {
namespace {

class NoPenalty : public Penalty {
 public:
  void apply(const std::vector<std::uint32_t>&, CompactList*) const override {}
};

}  // namespace

std::unique_ptr<Penalty> make_no_penalty() { return std::make_unique<NoPenalty>(); }

std::unique_ptr<Penalty> make_penalty(const LearnOptions& options) {
  if (!(options.l1 >= 0)) throw InputError("", "the l1 step is negative: " + std::to_string(options.l1));
  return options.l1 > 0 ? make_l1_penalty(options.l1) : make_no_penalty();
}

}  // namespace itersel
