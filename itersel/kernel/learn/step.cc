#include "learn/step.hh"

#include "base/named.hh"

namespace itersel {

StepMaker step_of_name(const std::string& name) {
  static const std::vector<Named<StepMaker>> table = {
      {"perceptron", make_perceptron_step},
      {"margin_perceptron", make_margin_perceptron_step},
      {"ramp", make_ramp_step},
      {"passive_aggressive", make_passive_aggressive_step},
      {"soft_ramp", make_soft_ramp_step},
  };
  return find_named("update rule", table, name);
}

}  // namespace itersel
