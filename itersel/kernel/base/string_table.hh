// Interned strings: a dense 32-bit id per distinct string, in order of first appearance.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/column.hh"

namespace itersel {

class StringTable {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;

  StringTable() { offsets_.push_back(0); }

  // A read-only table over mapped memory: `offsets` has size + 1 entries. It has views but no find or intern.
  StringTable(Column<char> bytes, Column<std::uint32_t> offsets)
      : bytes_(std::move(bytes)), offsets_(std::move(offsets)) {}

  std::uint32_t size() const { return static_cast<std::uint32_t>(offsets_.size() - 1); }
  std::string_view operator[](std::uint32_t id) const {
    return {bytes_.data() + offsets_[id], offsets_[id + 1] - offsets_[id]};
  }

  std::uint32_t intern(std::string_view text);
  std::uint32_t find(std::string_view text) const;

  const Column<char>& bytes() const { return bytes_; }
  const Column<std::uint32_t>& offsets() const { return offsets_; }

 private:
  std::uint32_t probe(std::string_view text, std::uint32_t hash) const;
  void grow();

  Column<char> bytes_;
  Column<std::uint32_t> offsets_;
  std::vector<std::uint32_t> hashes_;  // per id
  std::vector<std::uint32_t> slots_;   // open addressing: id + 1, or 0 for empty
};

// A base table that must not change, and the few strings a single sentence adds to it. Ids continue the base's.
class ExtendedStrings {
 public:
  explicit ExtendedStrings(const StringTable& base) : base_(base) {}

  std::uint32_t size() const { return base_.size() + extra_.size(); }
  std::uint32_t intern(std::string_view text) {
    std::uint32_t id = base_.find(text);
    return id != StringTable::kNone ? id : base_.size() + extra_.intern(text);
  }
  std::string_view operator[](std::uint32_t id) const {
    return id < base_.size() ? base_[id] : extra_[id - base_.size()];
  }
  const StringTable& base() const { return base_; }

 private:
  const StringTable& base_;
  StringTable extra_;
};

}  // namespace itersel
