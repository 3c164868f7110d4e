// A map with bounded memory. Entries live in two generations: whatever was not used while the young one filled up
// is dropped when it becomes the old one. Cheaper than a list of least recent use, with nearly its hit rate.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace itersel {

// `Key`: a string of symbols. `Value`: a pointer, empty where there is none.
template <class Key, class Value>
class GenerationCache {
 public:
  explicit GenerationCache(std::size_t bytes) : half_(bytes / 2) {}

  // From now on no more than this; what is there already goes when its generation does.
  void limit(std::size_t bytes) { half_ = bytes / 2; }

  // A copy of the value (a shared pointer), or an empty one.
  Value get(const Key& key) {
    const std::uint64_t hash = hash_of(key);
    if (const Entry* found = young_.find(key, hash)) return found->value;
    Entry* old = old_.find(key, hash);
    if (old == nullptr || !old->value) return Value();
    Value value = std::exchange(old->value, Value());
    put(key, hash, value, old->cost);
    return value;
  }

  // `cost`: bytes the value occupies, besides the map's own. A key that is there keeps its value.
  void put(const Key& key, const Value& value, std::size_t cost) { put(key, hash_of(key), value, cost); }

 private:
  using SymbolType = typename Key::value_type;
  struct Entry {
    std::uint32_t begin, size;  // of the key in `symbols`
    std::size_t cost;
    Value value;
  };
  // Slots have the upper half of a hash, so that a key that is absent is rarely compared, and the entry + 1.
  struct Slot {
    std::uint32_t tag = 0, entry = 0;
  };
  struct Generation {
    std::vector<Slot> slots;
    std::vector<Entry> entries;
    std::vector<SymbolType> symbols;

    Entry* find(const Key& key, std::uint64_t hash) {
      if (slots.empty()) return nullptr;
      const std::size_t mask = slots.size() - 1;
      const auto tag = static_cast<std::uint32_t>(hash >> 32);
      for (std::size_t i = hash & mask; slots[i].entry != 0; i = (i + 1) & mask) {
        if (slots[i].tag != tag) continue;
        Entry& entry = entries[slots[i].entry - 1];
        if (entry.size == key.size() && std::equal(key.begin(), key.end(), symbols.begin() + entry.begin))
          return &entry;
      }
      return nullptr;
    }

    void add(const Key& key, std::uint64_t hash, const Value& value, std::size_t cost) {
      if ((entries.size() + 1) * 2 > slots.size()) grow();
      entries.push_back(
          {static_cast<std::uint32_t>(symbols.size()), static_cast<std::uint32_t>(key.size()), cost, value});
      symbols.insert(symbols.end(), key.begin(), key.end());
      place({static_cast<std::uint32_t>(hash >> 32), static_cast<std::uint32_t>(entries.size())}, hash);
    }

    void place(Slot slot, std::uint64_t hash) {
      const std::size_t mask = slots.size() - 1;
      std::size_t i = hash & mask;
      while (slots[i].entry != 0) i = (i + 1) & mask;
      slots[i] = slot;
    }

    void grow() {
      slots.assign(std::max<std::size_t>(slots.size() * 2, 64), Slot());
      for (std::size_t i = 0; i < entries.size(); ++i) {
        const SymbolType* key = symbols.data() + entries[i].begin;
        const std::uint64_t hash = hash_of(key, key + entries[i].size);
        place({static_cast<std::uint32_t>(hash >> 32), static_cast<std::uint32_t>(i + 1)}, hash);
      }
    }

    void clear() {
      std::fill(slots.begin(), slots.end(), Slot());
      entries.clear();
      symbols.clear();
    }
  };

  static std::uint64_t hash_of(const SymbolType* at, const SymbolType* end) {
    std::uint64_t state = static_cast<std::uint64_t>(end - at);
    for (; at != end; ++at) {
      state = (state ^ static_cast<std::uint64_t>(*at)) * 0x9E3779B97F4A7C15u;
      state ^= state >> 29;
    }
    return state;
  }
  static std::uint64_t hash_of(const Key& key) { return hash_of(key.data(), key.data() + key.size()); }

  void put(const Key& key, std::uint64_t hash, const Value& value, std::size_t cost) {
    const std::size_t total = cost + key.size() * sizeof(SymbolType) + kOverhead;
    if (total > half_ || young_.find(key, hash) != nullptr) return;
    if (used_ + total > half_) {
      std::swap(old_, young_);
      young_.clear();
      used_ = 0;
    }
    young_.add(key, hash, value, cost);
    used_ += total;
  }

  static constexpr std::size_t kOverhead = 128;  // entry, slots, room to grow, and the value's control block
  std::size_t half_, used_ = 0;
  Generation young_, old_;
};

}  // namespace itersel
