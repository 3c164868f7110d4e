// Numbers of things by a 64-bit hash of their content: open addressing in one array. Different things may share a hash,
// so whoever asks says which one is meant. Only for lookup: the order of the slots is never seen.
#pragma once

#include <cstdint>
#include <vector>

namespace itersel {

class HashIndex {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;

  // The number stored under the hash for which `same(number)` holds, or kNone.
  template <class Same>
  std::uint32_t find(std::uint64_t hash, Same same) const {
    if (slots_.empty()) return kNone;
    for (std::size_t at = hash & mask();; at = (at + 1) & mask()) {
      const Slot& slot = slots_[at];
      if (slot.number == kNone) return kNone;
      if (slot.hash == hash && same(slot.number)) return slot.number;
    }
  }

  void add(std::uint64_t hash, std::uint32_t number) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    place({hash, number});
    ++size_;
  }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t number = kNone;
  };

  std::size_t mask() const { return slots_.size() - 1; }

  void place(const Slot& slot) {
    std::size_t at = slot.hash & mask();
    while (slots_[at].number != kNone) at = (at + 1) & mask();
    slots_[at] = slot;
  }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.number != kNone) place(slot);
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace itersel
