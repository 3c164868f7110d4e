// The strings of a cell, each with its language model state and score, which depend on the words alone. More than half
// of a cell's combinations repeat a string by another split or another rule, so the model is asked once per string.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "decode/yield.hh"

namespace itersel {

class CellStrings {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;

  struct Known {
    Yield yield;
    double lm_score;       // log10, of the whole string
    std::uint32_t state;   // the cube pruner's number
    std::uint32_t vertex;  // the cube pruner's number, or kNone before an edge was accepted
  };

  void clear() {
    known_.clear();
    slots_.assign(kFirstSlots, kNone);
  }

  Known& operator[](std::uint32_t string) { return known_[string]; }
  const Known& operator[](std::uint32_t string) const { return known_[string]; }

  // The string's number; a new one has all but its yield still to be set.
  std::uint32_t number(const Yield& yield, bool& is_new) {
    std::size_t slot = first_slot(yield);
    for (; slots_[slot] != kNone; slot = (slot + 1) & (slots_.size() - 1))
      if (known_[slots_[slot]].yield.hash == yield.hash) {
        is_new = false;
        return slots_[slot];
      }
    is_new = true;
    const std::uint32_t added = slots_[slot] = static_cast<std::uint32_t>(known_.size());
    known_.push_back({yield, 0, kNone, kNone});
    if (2 * known_.size() > slots_.size()) grow();
    return added;
  }

 private:
  static constexpr std::size_t kFirstSlots = 128;  // a power of two

  std::size_t first_slot(const Yield& yield) const { return yield.hash >> 32 & (slots_.size() - 1); }
  void grow() {
    slots_.assign(2 * slots_.size(), kNone);
    for (std::uint32_t string = 0; string < known_.size(); ++string) {
      std::size_t slot = first_slot(known_[string].yield);
      while (slots_[slot] != kNone) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = string;
    }
  }

  std::vector<Known> known_;
  std::vector<std::uint32_t> slots_;  // by yield
};

}  // namespace itersel
