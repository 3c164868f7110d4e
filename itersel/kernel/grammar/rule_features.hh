// The features of an extracted rule: those of cdec's extractor, with its names and in its order.
#pragma once

#include <cmath>
#include <cstddef>
#include <string_view>

#include "grammar/rule_block.hh"

namespace itersel {

constexpr std::size_t kRuleFeatures = 7;
constexpr std::string_view kRuleFeatureNames[kRuleFeatures] = {
    "EgivenFCoherent", "SampleCountF", "CountEF", "MaxLexFgivenE", "MaxLexEgivenF", "IsSingletonF", "IsSingletonFE"};

inline void rule_features(const RuleBlock& block, const RuleBlock::Entry& rule, bool singleton_source, double* values) {
  const double samples = block.samples;
  values[0] = -std::log10(static_cast<double>(rule.count) / samples);
  values[1] = std::log10(1.0 + samples);
  values[2] = std::log10(1.0 + rule.count);
  values[3] = rule.source_given_target;
  values[4] = rule.target_given_source;
  values[5] = singleton_source ? 1 : 0;
  values[6] = rule.count == 1 ? 1 : 0;
}

}  // namespace itersel
