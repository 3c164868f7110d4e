#include "grammar/rule_counter.hh"

#include <algorithm>

namespace itersel {
namespace {

constexpr std::size_t kInitialTable = 1024;

template <class Iterator>
std::uint64_t hash_words(std::uint64_t state, Iterator begin, Iterator end) {
  for (; begin != end; ++begin) {
    state = (state ^ *begin) * 0x9E3779B97F4A7C15u;
    state ^= state >> 29;
  }
  return state;
}

// The three parts of an entry's key, wherever they are.
struct Key {
  Around around;
  const std::uint32_t *symbols, *links;
  std::size_t symbols_size, links_size;
};

Key key_of(const RuleCounts& counts, const RuleCounts::Entry& entry) {
  const std::uint32_t* symbols = counts.pool.data() + entry.offset;
  return {entry.around, symbols, symbols + entry.symbols_size, entry.symbols_size, entry.links_size};
}

bool before(const Key& a, const Key& b) {
  if (a.around != b.around) return a.around < b.around;
  const int order = compare_words(a.symbols, a.symbols_size, b.symbols, b.symbols_size);
  if (order != 0) return order < 0;
  return compare_words(a.links, a.links_size, b.links, b.links_size) < 0;
}

// Adds `change` to the number of occurrences that gave a rule, for each Around.
void count_extracted(const OccurrenceRules& occurrence, std::uint32_t change, RuleCounts& counts) {
  bool gave[4] = {};
  for (const OccurrenceRule& rule : occurrence) gave[static_cast<std::uint32_t>(rule.around)] = true;
  for (int around = 0; around < 4; ++around) {
    if (gave[around]) counts.extracted[around] += change;
  }
}

}  // namespace

void RuleCounter::clear() {
  // A table that a rare, very productive pattern blew up must not slow down all later ones.
  if (table_.empty() || (table_.size() > kInitialTable && hashes_.size() * 8 < table_.size())) {
    table_.assign(kInitialTable, 0);
  } else if (hashes_.size() * 8 > table_.size()) {
    std::fill(table_.begin(), table_.end(), 0);
  } else {
    // The last one first: until it is reached, the slots that it was moved on from are taken.
    const std::size_t mask = table_.size() - 1;
    for (std::size_t i = hashes_.size(); i-- > 0;) {
      std::size_t slot = hashes_[i] & mask;
      while (table_[slot] != i + 1) slot = (slot + 1) & mask;
      table_[slot] = 0;
    }
  }
  counts_.pool.clear();
  counts_.entries.clear();
  std::fill(counts_.extracted, counts_.extracted + 4, 0);
  hashes_.clear();
}

void RuleCounter::add(const OccurrenceRules& occurrence) {
  for (const OccurrenceRule& rule : occurrence) add(rule, occurrence.symbols(rule));
  count_extracted(occurrence, 1, counts_);
}

void RuleCounter::add(const OccurrenceRule& rule, const std::uint32_t* words) {
  const std::size_t size = std::size_t{rule.symbols_size} + rule.links_size;
  const std::uint64_t seed = static_cast<std::uint64_t>(rule.around) << 32 | (rule.symbols_size + 1u);
  const std::uint64_t hash = hash_words(seed, words, words + size);
  const std::size_t mask = table_.size() - 1;
  std::vector<std::uint32_t>& pool = counts_.pool;
  std::size_t slot = hash & mask;
  for (; table_[slot] != 0; slot = (slot + 1) & mask) {
    if (hashes_[table_[slot] - 1] != hash) continue;
    RuleCounts::Entry& entry = counts_.entries[table_[slot] - 1];
    if (entry.around == rule.around && entry.symbols_size == rule.symbols_size && entry.links_size == rule.links_size &&
        std::equal(words, words + size, pool.data() + entry.offset)) {
      ++entry.count;
      return;
    }
  }
  hashes_.push_back(hash);
  counts_.entries.push_back(
      {static_cast<std::uint32_t>(pool.size()), 1, rule.symbols_size, rule.links_size, rule.around});
  pool.insert(pool.end(), words, words + size);
  table_[slot] = static_cast<std::uint32_t>(hashes_.size());
  if (hashes_.size() * 2 > table_.size()) grow();
}

void RuleCounter::grow() {
  table_.assign(table_.size() * 2, 0);
  const std::size_t mask = table_.size() - 1;
  for (std::size_t i = 0; i < hashes_.size(); ++i) {
    std::size_t slot = hashes_[i] & mask;
    while (table_[slot] != 0) slot = (slot + 1) & mask;
    table_[slot] = static_cast<std::uint32_t>(i + 1);
  }
}

const RuleCounts& RuleCounter::counts() {
  std::sort(counts_.entries.begin(), counts_.entries.end(),
            [&](const auto& a, const auto& b) { return before(key_of(counts_, a), key_of(counts_, b)); });
  return counts_;
}

void RuleCounter::merge(const RuleCounts& counts, std::vector<CountedRule>& rules) {
  rules.clear();
  std::uint32_t best = 0;
  for (const RuleCounts::Entry& entry : counts.entries) {
    if (entry.count == 0) continue;
    const Key key = key_of(counts, entry);
    if (!rules.empty() && rules.back().around == key.around &&
        compare_words(rules.back().symbols, rules.back().symbols_size, key.symbols, key.symbols_size) == 0) {
      rules.back().count += entry.count;
      if (entry.count > best) {
        best = entry.count;
        rules.back().links = key.links;
        rules.back().links_size = entry.links_size;
      }
    } else {
      best = entry.count;
      rules.push_back({key.around, key.symbols, entry.symbols_size, key.links, entry.links_size, entry.count});
    }
  }
}

void RuleCounter::subtract(const OccurrenceRules& occurrence, RuleCounts& counts) {
  for (const OccurrenceRule& rule : occurrence) {
    const Key sought = {rule.around, occurrence.symbols(rule), occurrence.links(rule), rule.symbols_size,
                        rule.links_size};
    const auto found =
        std::lower_bound(counts.entries.begin(), counts.entries.end(), sought,
                         [&](const auto& entry, const Key& key) { return before(key_of(counts, entry), key); });
    --found->count;
  }
  count_extracted(occurrence, UINT32_MAX, counts);
}

}  // namespace itersel
