// The rules of one source pattern with what their features are made of: numbers, no text.
#pragma once

#include <cstdint>
#include <vector>

#include "grammar/occurrence_rules.hh"

namespace itersel {

struct RuleBlock {
  // The rules with the same non-terminals around the pattern, up to `end`.
  struct Side {
    Around around;
    bool singleton;  // one sampled occurrence gave all of them
    std::uint32_t end;
  };
  struct Entry {
    std::uint32_t begin;  // of its target symbols in `pool`; its links follow
    std::uint16_t symbols_size, links_size;
    std::uint32_t count;
    double source_given_target, target_given_source;  // lexical weights, −log10
    double phrase;                                    // −log10 p(f|e), if it is asked for
  };

  bool occurs = false;  // the pattern does, be it outside the sample
  std::uint32_t samples = 0;
  std::uint32_t side_count = 0;
  Side sides[4] = {};
  std::vector<Entry> rules;
  std::vector<std::uint32_t> pool;

  // Of each Side, with its first rule.
  template <class Consumer>
  void each_side(Consumer&& consume) const {
    std::uint32_t begin = 0;
    for (const Side* side = sides; side != sides + side_count; begin = side++->end) consume(*side, begin);
  }
  const std::uint32_t* symbols(const Entry& rule) const { return pool.data() + rule.begin; }
  const std::uint32_t* links(const Entry& rule) const { return symbols(rule) + rule.symbols_size; }
  std::size_t bytes() const { return sizeof *this + rules.size() * sizeof(Entry) + pool.size() * sizeof pool[0]; }
};

}  // namespace itersel
