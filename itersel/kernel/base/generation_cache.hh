// A map with bounded memory. Entries live in two generations: whatever was not used while the young one filled up
// is dropped when it becomes the old one. Cheaper than a list of least recent use, with nearly its hit rate.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <utility>

namespace itersel {

template <class Key, class Value>
class GenerationCache {
 public:
  explicit GenerationCache(std::size_t bytes) : half_(bytes / 2) {}

  // From now on no more than this; what is there already goes when its generation does.
  void limit(std::size_t bytes) { half_ = bytes / 2; }

  // A copy of the value (a shared pointer), or an empty one.
  Value get(const Key& key) {
    auto found = young_.find(key);
    if (found != young_.end()) return found->second.first;
    auto old = old_.find(key);
    if (old == old_.end()) return Value();
    auto [value, cost] = old->second;
    old_.erase(old);
    put(key, value, cost);
    return value;
  }

  // `cost`: bytes the value occupies, besides the map's own.
  void put(const Key& key, const Value& value, std::size_t cost) {
    const std::size_t total = cost + key.size() * sizeof(key[0]) + kOverhead;
    if (total > half_) return;
    if (used_ + total > half_) {
      old_ = std::move(young_);
      young_.clear();
      used_ = 0;
    }
    if (young_.emplace(key, std::make_pair(value, cost)).second) used_ += total;
  }

 private:
  static constexpr std::size_t kOverhead = 160;  // node, bucket and control block
  std::size_t half_, used_ = 0;
  std::unordered_map<Key, std::pair<Value, std::size_t>> young_, old_;
};

}  // namespace itersel
