#include "metrics/ngram_table.hh"

#include <algorithm>

namespace itersel {

NgramTable::NgramTable(const std::vector<std::vector<std::uint32_t>>& sequences, int order) : order_(order) {
  std::size_t most = 1;
  for (const auto& sequence : sequences) most += sequence.size() * static_cast<std::size_t>(order);
  int bits = 4;
  while ((std::size_t{1} << bits) < 2 * most) ++bits;
  slots_.assign(std::size_t{1} << bits, Slot{0, 0});
  mask_ = slots_.size() - 1;
  shift_ = 64 - bits;
  limits_.reserve(most);
  counts_.reserve(most);
  limits_.push_back(0);
  counts_.push_back(0);
  for (const auto& sequence : sequences) add(sequence);
}

void NgramTable::add(const std::vector<std::uint32_t>& sequence) {
  for (std::size_t start = 0; start < sequence.size(); ++start) {
    const std::size_t end = std::min(sequence.size(), start + static_cast<std::size_t>(order_));
    std::uint32_t node = 0;
    for (std::size_t i = start; i < end; ++i) {
      Slot& slot = slots_[slot_of(node, sequence[i])];
      if (slot.node == 0) {
        slot.key = static_cast<std::uint64_t>(node) << 32 | sequence[i];
        slot.node = static_cast<std::uint32_t>(limits_.size());
        limits_.push_back(0);
        counts_.push_back(0);
      }
      node = slot.node;
      limits_[node] = std::max(limits_[node], ++counts_[node]);
      touched_.push_back(node);
    }
  }
  forget_counts();
}

void NgramTable::match(const std::uint32_t* symbols, std::size_t length, std::uint32_t* matches) {
  for (std::size_t start = 0; start < length; ++start) {
    const std::size_t end = std::min(length, start + static_cast<std::size_t>(order_));
    std::uint32_t node = 0;
    for (std::size_t i = start; i < end; ++i) {
      node = slots_[slot_of(node, symbols[i])].node;
      if (node == 0) break;
      if (++counts_[node] <= limits_[node]) ++matches[i - start];
      touched_.push_back(node);
    }
  }
  forget_counts();
}

void NgramTable::forget_counts() {
  for (const std::uint32_t node : touched_) counts_[node] = 0;
  touched_.clear();
}

}  // namespace itersel
