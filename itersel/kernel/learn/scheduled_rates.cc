// Rates that depend on the number of the list alone.
#include <cmath>

#include "learn/rate.hh"

namespace itersel {
namespace {

class ConstantRate : public Rate {
 public:
  explicit ConstantRate(double eta) : eta_(eta) {}
  double of_list(std::uint64_t) const override { return eta_; }

 private:
  double eta_;
};

class InverseRate : public Rate {
 public:
  explicit InverseRate(double eta) : eta_(eta) {}
  double of_list(std::uint64_t t) const override { return eta_ / static_cast<double>(t); }

 private:
  double eta_;
};

class InverseSqrtRate : public Rate {
 public:
  explicit InverseSqrtRate(double eta) : eta_(eta) {}
  double of_list(std::uint64_t t) const override { return eta_ / std::sqrt(static_cast<double>(t)); }

 private:
  double eta_;
};

}  // namespace

std::unique_ptr<Rate> make_constant_rate(const LearnOptions& options) {
  return std::make_unique<ConstantRate>(options.eta);
}

std::unique_ptr<Rate> make_inverse_rate(const LearnOptions& options) {
  return std::make_unique<InverseRate>(options.eta);
}

std::unique_ptr<Rate> make_inverse_sqrt_rate(const LearnOptions& options) {
  return std::make_unique<InverseSqrtRate>(options.eta);
}

}  // namespace itersel
