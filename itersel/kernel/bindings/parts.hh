// What calls that work through the sentences of a shard have in common.
#pragma once

#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/module.hh"
#include "learn/epoch.hh"

namespace itersel {

// A language model or none, and the sentences to decode with it; none: all.
using Part = std::pair<std::shared_ptr<LanguageModel>, std::optional<std::vector<std::uint32_t>>>;

inline std::vector<EpochPart> epoch_parts(const Shard& shard, const std::vector<Part>& given) {
  std::vector<EpochPart> parts;
  for (const auto& [model, chosen] : given) {
    parts.push_back({model, chosen.value_or(std::vector<std::uint32_t>(shard.size()))});
    if (!chosen) std::iota(parts.back().sentences.begin(), parts.back().sentences.end(), 0u);
  }
  return parts;
}

// Names of the shard's features, each with a newline.
inline std::string joined_names(const Shard& shard, const std::vector<std::uint32_t>& features) {
  std::string names;
  for (const std::uint32_t feature : features) (names += shard.lexicon().features[feature]) += '\n';
  return names;
}

inline pybind11::dict seconds_of(const StageSeconds& s) {
  pybind11::dict made;
  made["decode"] = s.decode;
  made["kbest"] = s.kbest;
  made["metric"] = s.metric;
  made["pairs"] = s.pairs;
  made["update"] = s.update;
  return made;
}

}  // namespace itersel
