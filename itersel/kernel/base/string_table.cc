#include "base/string_table.hh"

#include <cstring>

#include "base/error.hh"

namespace itersel {
namespace {

// Eight bytes at a time, multiply and fold. Only for the table's own slots: it is never written to a file.
std::uint32_t slot_hash(std::string_view text) {
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15ull;
  std::uint64_t hash = text.size() * kMultiplier;
  const char* at = text.data();
  std::size_t left = text.size();
  for (; left >= 8; at += 8, left -= 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    hash = (hash ^ word) * kMultiplier;
    hash ^= hash >> 32;
  }
  std::uint64_t word = 0;
  if (left) std::memcpy(&word, at, left);
  hash = (hash ^ word) * kMultiplier;
  return static_cast<std::uint32_t>(hash >> 32);
}

}  // namespace

std::uint32_t StringTable::probe(std::string_view text, std::uint32_t hash) const {
  std::uint32_t mask = static_cast<std::uint32_t>(slots_.size() - 1);
  for (std::uint32_t slot = hash & mask;; slot = (slot + 1) & mask) {
    std::uint32_t found = slots_[slot];
    if (!found) return slot;
    if (hashes_[found - 1] == hash && (*this)[found - 1] == text) return slot;
  }
}

std::uint32_t StringTable::find(std::string_view text) const {
  if (slots_.empty()) return kNone;
  return slots_[probe(text, slot_hash(text))] - 1;  // an empty slot's 0 becomes kNone
}

std::uint32_t StringTable::intern(std::string_view text) {
  if (2 * (hashes_.size() + 1) > slots_.size()) grow();
  std::uint32_t hash = slot_hash(text);
  std::uint32_t slot = probe(text, hash);
  if (slots_[slot]) return slots_[slot] - 1;
  if (bytes_.size() + text.size() > 0xFFFFFFF0u) throw InputError("", "more than 4 GiB of distinct names in one table");
  bytes_.append(text.begin(), text.end());
  offsets_.push_back(static_cast<std::uint32_t>(bytes_.size()));
  hashes_.push_back(hash);
  slots_[slot] = static_cast<std::uint32_t>(hashes_.size());
  return slots_[slot] - 1;
}

void StringTable::grow() {
  slots_.assign(slots_.empty() ? 64 : 2 * slots_.size(), 0);
  std::uint32_t mask = static_cast<std::uint32_t>(slots_.size() - 1);
  for (std::uint32_t id = 0; id < hashes_.size(); ++id) {
    std::uint32_t slot = hashes_[id] & mask;
    while (slots_[slot]) slot = (slot + 1) & mask;
    slots_[slot] = id + 1;
  }
}

}  // namespace itersel
