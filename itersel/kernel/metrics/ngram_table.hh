// Clipped n-gram matches of many sequences against a few fixed ones (words for BLEU, characters for chrF).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace itersel {

// A trie of the references' n-grams in one open-addressing table keyed by (node of the prefix, next symbol): exact, and
// without an allocation per n-gram. A hypothesis walks it from each position and leaves at the first unknown symbol.
// match() uses scratch space inside: one table per thread.
class NgramTable {
 public:
  // The limit of an n-gram is its largest count in any single sequence.
  NgramTable(const std::vector<std::vector<std::uint32_t>>& sequences, int order);

  int order() const { return order_; }

  // Adds the number of clipped matches of length n to matches[n - 1], for n = 1 … order.
  void match(const std::uint32_t* symbols, std::size_t length, std::uint32_t* matches);

 private:
  struct Slot {
    std::uint64_t key;
    std::uint32_t node;  // 0 is the root, which is nobody's child: an empty slot
  };

  std::size_t slot_of(std::uint32_t prefix, std::uint32_t symbol) const {
    const std::uint64_t key = static_cast<std::uint64_t>(prefix) << 32 | symbol;
    std::size_t at = static_cast<std::size_t>((key * 0x9e3779b97f4a7c15u) >> shift_);
    while (slots_[at].node != 0 && slots_[at].key != key) at = (at + 1) & mask_;
    return at;
  }
  void add(const std::vector<std::uint32_t>& sequence);
  void forget_counts();

  int order_;
  int shift_ = 0;
  std::size_t mask_ = 0;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> limits_;   // per node
  std::vector<std::uint32_t> counts_;   // per node, of the sequence at hand
  std::vector<std::uint32_t> touched_;  // nodes with a count
};

}  // namespace itersel
