#include "learn/feature_counts.hh"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/error.hh"

namespace itersel {
namespace {

constexpr std::string_view kCount = "CountEF", kIdentity = "R:";

}  // namespace

FeatureCounts::FeatureCounts(const Lexicon& lexicon, double others)
    : is_identity_(lexicon.features.size(), 0), counts_(lexicon.features.size(), std::max(1.0, others)) {
  bool found = false;
  for (std::uint32_t id = 0; id < lexicon.features.size(); ++id) {
    const std::string_view name = lexicon.features[id];
    if (name.substr(0, kIdentity.size()) == kIdentity) {
      is_identity_[id] = 1;
      counts_[id] = 1;
    } else if (name == kCount) {
      count_feature_ = id;
      found = true;
    }
  }
  if (!found)
    throw InputError("",
                     "the rules do not say how often they were extracted: there is no value " + std::string(kCount));
}

void FeatureCounts::read(const Problem& problem) {
  if (problem.words.empty()) return;
  const RuleTable& table = *problem.table;
  for (std::size_t number = 0; number < table.rules.size(); ++number) {
    const Rule& rule = table.rules[number];
    const Range& schema = table.schema(rule);
    for (std::uint32_t at = schema.begin; at < schema.end; ++at) {
      if (table.schema_features[at] != count_feature_) continue;
      // CountEF is log10(1 + count) in single precision.
      const double logarithm = static_cast<double>(table.values[rule.values + (at - schema.begin)]);
      const double count = std::round(std::pow(10.0, logarithm) - 1);
      for (std::uint32_t k = rule.sparse; k < rule.sparse + rule.sparse_length; ++k) {
        const std::uint32_t feature = table.sparse[k];
        if (is_identity_[feature]) counts_[feature] = std::max(counts_[feature], count);
      }
      break;
    }
  }
}

}  // namespace itersel
