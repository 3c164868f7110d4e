// Rates: how far a list moves the weights.
//
// A rate of a new kind is a file with a function make_<kind>_rate, declared here, and a line in rate.cc's table.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "learn/compact_list.hh"
#include "learn/options.hh"

namespace itersel {

class Rate {
 public:
  virtual ~Rate() = default;
  // η of the t-th list, t = 1, 2, …
  virtual double of_list(std::uint64_t t) const = 0;
  // Batch: adds the list's gradient to the weights of the touched features.
  virtual void apply(double eta, const std::vector<std::uint32_t>& touched, CompactList* list);
  // AdaGrad: by feature, the squares added up so far, perhaps not for the last features; other rates have none.
  virtual std::vector<double> account() const { return {}; }
};

// "constant", "inverse", "inverse_sqrt", "adagrad" or "conditioned"; anything else is an InputError that lists them.
RateMaker rate_of_name(const std::string& name);

std::unique_ptr<Rate> make_constant_rate(const LearnOptions& options);      // η
std::unique_ptr<Rate> make_inverse_rate(const LearnOptions& options);       // η / t
std::unique_ptr<Rate> make_inverse_sqrt_rate(const LearnOptions& options);  // η / √t
std::unique_ptr<Rate> make_adagrad_rate(const LearnOptions& options);
std::unique_ptr<Rate> make_conditioned_rate(const LearnOptions& options);

}  // namespace itersel
