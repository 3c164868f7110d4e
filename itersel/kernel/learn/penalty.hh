// Penalties: what happens to the weights that a list has changed, before or after its step.
//
// A penalty of a new kind is a file with a function make_<kind>_penalty, declared here, and a case in make_penalty.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "learn/compact_list.hh"
#include "learn/options.hh"

namespace itersel {

class Penalty {
 public:
  virtual ~Penalty() = default;
  // In a batch, before the rate applies the gradient.
  virtual void add_to_gradient(const std::vector<std::uint32_t>&, CompactList*) const {}
  // After the step.
  virtual void apply(const std::vector<std::uint32_t>&, CompactList*) const {}
};

// What the options ask for; none if l1 and l2 are 0.
std::unique_ptr<Penalty> make_penalty(const LearnOptions& options);

std::unique_ptr<Penalty> make_no_penalty();
std::unique_ptr<Penalty> make_l1_penalty(double l1);
std::unique_ptr<Penalty> make_l2_penalty(const LearnOptions& options);

}  // namespace itersel
