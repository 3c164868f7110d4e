// Counts the rules of one source pattern over its occurrences. Counts can be kept, and later be used without the rules
// of some occurrences: leaving out a sentence then costs as much as reading its own occurrences.
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

// How often each rule occurred with each alignment: by Around, then by target symbols, then by links.
struct RuleCounts {
  struct Entry {
    std::uint32_t offset, count;  // of the symbols in `pool`; the links follow
    std::uint16_t symbols_size, links_size;
    Around around;
  };
  std::vector<Entry> entries;
  std::vector<std::uint32_t> pool;
  std::uint32_t extracted[4] = {};  // occurrences that gave a rule, per Around

  std::size_t bytes() const { return sizeof *this + entries.size() * sizeof(Entry) + pool.size() * sizeof pool[0]; }
};

class RuleCounter {
 public:
  void clear();
  void add(const OccurrenceRules& occurrence);

  // What was added since the last clear. Stays as it is until then.
  const RuleCounts& counts();

  // All rules in order: by Around, then by target symbols.
  static void merge(const RuleCounts& counts, std::vector<CountedRule>& rules);

  // Takes an occurrence out of counts that have it; entries whose count becomes 0 are not merged.
  static void subtract(const OccurrenceRules& occurrence, RuleCounts& counts);

 private:
  void add(const OccurrenceRule& rule, const std::uint32_t* words);
  void grow();

  RuleCounts counts_;
  std::vector<std::uint64_t> hashes_;  // of the entries
  std::vector<std::uint32_t> table_;   // entry + 1, 0 is free
};

}  // namespace itersel
