// Patterns of feature names: a name, or its beginning followed by `*`.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace itersel {

inline bool matches(std::string_view name, std::string_view pattern) {
  if (pattern.empty() || pattern.back() != '*') return name == pattern;
  pattern.remove_suffix(1);
  return name.substr(0, pattern.size()) == pattern;
}

inline bool matches_any(std::string_view name, const std::vector<std::string>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [name](std::string_view pattern) { return matches(name, pattern); });
}

}  // namespace itersel
