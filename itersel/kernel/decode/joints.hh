// What the language model adds where two pieces of a translation meet. It depends on the right half of the first
// piece's state and the left half of the second's. Few halves occur in a sentence, so they get numbers, and the model
// is asked once for each pair of numbers.
#pragma once

#include <cstdint>
#include <vector>

namespace itersel {

struct Halves {  // of a state; equal halves have equal numbers
  std::uint32_t left, right;
};

template <class Scorer>
class Joints {
 public:
  using State = typename Scorer::State;

  explicit Joints(const Scorer& scorer) : scorer_(scorer) {}

  // A new sentence: forgets all numbers.
  void clear() {
    lefts_.clear();
    rights_.clear();
    pairs_.assign(kFirstPairs, {kNoPair, 0});
    pair_count_ = 0;
  }

  Halves number(const State& state) {
    return {lefts_.number(state, Scorer::hash_left(state), Scorer::equal_left),
            rights_.number(state, Scorer::hash_right(state), Scorer::equal_right)};
  }

  // A state with these halves.
  State state(const Halves& halves) const {
    return Scorer::whole(lefts_.halves[halves.left], rights_.halves[halves.right]);
  }

  // log10 probability that the second piece adds when it follows the first.
  float joint(std::uint32_t right_of_first, std::uint32_t left_of_second) {
    const std::uint64_t key = static_cast<std::uint64_t>(right_of_first) << 32 | left_of_second;
    const std::size_t slot = find(key);
    if (pairs_[slot].key == key) return pairs_[slot].score;
    const float score = scorer_.join(rights_.halves[right_of_first], lefts_.halves[left_of_second]);
    pairs_[slot] = {key, score};
    if (2 * ++pair_count_ > pairs_.size()) grow();
    return score;
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
  static constexpr std::uint64_t kNoPair = ~0ull;
  static constexpr std::size_t kFirstPairs = 4096, kFirstNumbers = 1024;  // powers of two

  struct Pair {
    std::uint64_t key;
    float score;
  };
  template <class Half>
  struct Numbers {  // of one side's halves
    std::vector<Half> halves;
    std::vector<std::uint32_t> hashes;
    std::vector<std::uint32_t> slots;

    void clear() {
      halves.clear();
      hashes.clear();
      slots.assign(kFirstNumbers, kNone);
    }
    template <class Equal>
    std::uint32_t number(const State& state, std::uint32_t hash, Equal equal) {
      std::size_t slot = hash & (slots.size() - 1);
      for (; slots[slot] != kNone; slot = (slot + 1) & (slots.size() - 1))
        if (hashes[slots[slot]] == hash && equal(halves[slots[slot]], state)) return slots[slot];
      const std::uint32_t made = slots[slot] = static_cast<std::uint32_t>(halves.size());
      halves.emplace_back(state);
      hashes.push_back(hash);
      if (2 * halves.size() > slots.size()) grow();
      return made;
    }
    void grow() {
      slots.assign(2 * slots.size(), kNone);
      for (std::uint32_t at = 0; at < hashes.size(); ++at) {
        std::size_t slot = hashes[at] & (slots.size() - 1);
        while (slots[slot] != kNone) slot = (slot + 1) & (slots.size() - 1);
        slots[slot] = at;
      }
    }
  };

  // The key's slot, or the free one where it belongs.
  std::size_t find(std::uint64_t key) const {
    std::size_t slot = (key * 0x9E3779B97F4A7C15ull >> 32) & (pairs_.size() - 1);
    while (pairs_[slot].key != key && pairs_[slot].key != kNoPair) slot = (slot + 1) & (pairs_.size() - 1);
    return slot;
  }
  void grow() {
    std::vector<Pair> old(2 * pairs_.size(), {kNoPair, 0});
    old.swap(pairs_);
    for (const Pair& pair : old)
      if (pair.key != kNoPair) pairs_[find(pair.key)] = pair;
  }

  const Scorer& scorer_;
  Numbers<typename Scorer::Left> lefts_;
  Numbers<typename Scorer::Right> rights_;
  std::vector<Pair> pairs_;
  std::size_t pair_count_ = 0;
};

}  // namespace itersel
