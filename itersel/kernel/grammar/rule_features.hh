// The features of an extracted rule: those of cdec's extractor, with its names and in its order.
#pragma once

#include <cmath>
#include <cstddef>
#include <string_view>

#include "grammar/rule_block.hh"

namespace itersel {

// The last two are optional and not cdec's.
constexpr std::size_t kRuleFeatures = 9, kUsualFeatures = 7;
constexpr std::string_view kRuleFeatureNames[kRuleFeatures] = {"EgivenFCoherent", "SampleCountF",    "CountEF",
                                                               "MaxLexFgivenE",   "MaxLexEgivenF",   "IsSingletonF",
                                                               "IsSingletonFE",   "FgivenECoherent", "PhrasePenalty"};

// The first ones depend on the count of the rule and on the samples of its block alone.
constexpr std::size_t kCountFeatures = 3;
inline void count_features(std::uint32_t samples, std::uint32_t count, double* values) {
  values[0] = -std::log10(static_cast<double>(count) / samples);
  values[1] = std::log10(1.0 + samples);
  values[2] = std::log10(1.0 + count);
}

inline void other_features(const RuleBlock::Entry& rule, bool singleton_source, double* values) {
  values[3] = rule.source_given_target;
  values[4] = rule.target_given_source;
  values[5] = singleton_source ? 1 : 0;
  values[6] = rule.count == 1 ? 1 : 0;
  values[7] = rule.phrase;
  values[8] = 1;
}

inline void rule_features(const RuleBlock& block, const RuleBlock::Entry& rule, bool singleton_source, double* values) {
  count_features(block.samples, rule.count, values);
  other_features(rule, singleton_source, values);
}

}  // namespace itersel
