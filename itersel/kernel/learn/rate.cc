#include "learn/rate.hh"

#include "base/named.hh"

namespace itersel {

void Rate::apply(double eta, const std::vector<std::uint32_t>& touched, CompactList* list) {
  for (const std::uint32_t i : touched) list->weights[i] += eta * list->gradient[i];
}

RateMaker rate_of_name(const std::string& name) {
  static const std::vector<Named<RateMaker>> table = {
      {"constant", make_constant_rate},         {"inverse", make_inverse_rate},
      {"inverse_sqrt", make_inverse_sqrt_rate}, {"adagrad", make_adagrad_rate},
      {"conditioned", make_conditioned_rate},
  };
  return find_named("schedule", table, name);
}

}  // namespace itersel
