// The strings that a cell has already, each with the score of its best derivation and what the language model says of
// it, which depends on the string alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace itersel {

class KnownYields {
 public:
  struct Known {
    std::uint64_t hash;
    double score, lm_score;
  };

  void clear() {
    slots_.assign(kFirstSlots, {kNone, 0, 0});
    size_ = 0;
  }

  // Null if the string is new.
  const Known* find(std::uint64_t hash) const {
    const Known& slot = slots_[place(hash)];
    return slot.hash == hash ? &slot : nullptr;
  }

  void add(const Known& derivation) {
    Known& slot = slots_[place(derivation.hash)];
    if (slot.hash == derivation.hash) {
      if (derivation.score > slot.score) slot.score = derivation.score;
      return;
    }
    slot = derivation;
    if (2 * ++size_ > slots_.size()) grow();
  }

 private:
  static constexpr std::uint64_t kNone = ~0ull;   // hashes of yields have 61 bits
  static constexpr std::size_t kFirstSlots = 64;  // a power of two

  // The hash's slot, or the free one where it belongs.
  std::size_t place(std::uint64_t hash) const {
    std::size_t at = hash & (slots_.size() - 1);
    while (slots_[at].hash != hash && slots_[at].hash != kNone) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  void grow() {
    std::vector<Known> old(2 * slots_.size(), {kNone, 0, 0});
    old.swap(slots_);
    for (const Known& known : old)
      if (known.hash != kNone) slots_[place(known.hash)] = known;
  }

  std::vector<Known> slots_;
  std::size_t size_ = 0;
};

}  // namespace itersel
