// Counts the rules of one source pattern over its occurrences.
#pragma once

#include <cstdint>
#include <vector>

#include "grammar/occurrence_rules.hh"

namespace itersel {

// A counted rule; pointers stay valid until the counter is cleared.
struct CountedRule {
  Around around;
  const std::uint32_t* symbols;
  std::uint32_t symbols_size;
  const std::uint32_t* links;  // of the most frequent alignment, ties to the smallest
  std::uint32_t links_size;
  std::uint32_t count;
};

class RuleCounter {
 public:
  void clear();
  void add(const OccurrenceRule& rule);

  // All rules in order: by Around, then by target symbols.
  const std::vector<CountedRule>& rules();

 private:
  struct Entry {
    std::uint64_t hash;
    std::uint32_t offset, symbols_size, links_size, count;  // offset of the key in pool_
    Around around;
  };
  void grow();

  std::vector<std::uint32_t> pool_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> table_;  // entry + 1, 0 is free
  std::vector<CountedRule> rules_;
};

}  // namespace itersel
