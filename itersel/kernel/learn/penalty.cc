#include "learn/penalty.hh"

#include <string>

#include "base/error.hh"

namespace itersel {

std::unique_ptr<Penalty> make_no_penalty() { return std::make_unique<Penalty>(); }

std::unique_ptr<Penalty> make_penalty(const LearnOptions& options) {
  if (!(options.l1 >= 0)) throw InputError("", "the l1 step is negative: " + std::to_string(options.l1));
  if (!(options.l2 >= 0)) throw InputError("", "the l2 factor is negative: " + std::to_string(options.l2));
  if (options.l1 > 0 && options.l2 > 0) throw InputError("", "there can be one penalty: l1 or l2");
  if (options.l2 > 0) return make_l2_penalty(options);
  return options.l1 > 0 ? make_l1_penalty(options.l1) : make_no_penalty();
}

}  // namespace itersel
