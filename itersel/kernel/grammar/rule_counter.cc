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

// -1, 0 or 1.
int compare(const std::uint32_t* a, std::size_t a_size, const std::uint32_t* b, std::size_t b_size) {
  const std::uint32_t* end = a + std::min(a_size, b_size);
  const auto [left, right] = std::mismatch(a, end, b);
  if (left != end) return *left < *right ? -1 : 1;
  return a_size < b_size ? -1 : a_size > b_size ? 1 : 0;
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
  const int order = compare(a.symbols, a.symbols_size, b.symbols, b.symbols_size);
  if (order != 0) return order < 0;
  return compare(a.links, a.links_size, b.links, b.links_size) < 0;
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
  if (table_.size() > kInitialTable && counts_.entries.size() * 8 < table_.size()) table_.resize(kInitialTable);
  table_.resize(std::max(table_.size(), kInitialTable));
  if (!counts_.entries.empty()) std::fill(table_.begin(), table_.end(), 0);
  counts_.pool.clear();
  counts_.entries.clear();
  std::fill(counts_.extracted, counts_.extracted + 4, 0);
  hashes_.clear();
}

void RuleCounter::add(const OccurrenceRules& occurrence) {
  for (const OccurrenceRule& rule : occurrence) add(rule);
  count_extracted(occurrence, 1, counts_);
}

void RuleCounter::add(const OccurrenceRule& rule) {
  std::uint64_t hash =
      hash_words(static_cast<std::uint64_t>(rule.around) + 1, rule.symbols.begin(), rule.symbols.end());
  hash = hash_words(~hash, rule.links.begin(), rule.links.end());
  const std::size_t mask = table_.size() - 1;
  std::vector<std::uint32_t>& pool = counts_.pool;
  std::size_t slot = hash & mask;
  for (; table_[slot] != 0; slot = (slot + 1) & mask) {
    if (hashes_[table_[slot] - 1] != hash) continue;
    RuleCounts::Entry& entry = counts_.entries[table_[slot] - 1];
    if (entry.around == rule.around && entry.symbols_size == rule.symbols.size() &&
        entry.links_size == rule.links.size() &&
        std::equal(rule.symbols.begin(), rule.symbols.end(), pool.begin() + entry.offset) &&
        std::equal(rule.links.begin(), rule.links.end(), pool.begin() + entry.offset + entry.symbols_size)) {
      ++entry.count;
      return;
    }
  }
  hashes_.push_back(hash);
  counts_.entries.push_back({static_cast<std::uint32_t>(pool.size()), 1,
                             static_cast<std::uint16_t>(rule.symbols.size()),
                             static_cast<std::uint16_t>(rule.links.size()), rule.around});
  pool.insert(pool.end(), rule.symbols.begin(), rule.symbols.end());
  pool.insert(pool.end(), rule.links.begin(), rule.links.end());
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
        compare(rules.back().symbols, rules.back().symbols_size, key.symbols, key.symbols_size) == 0) {
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
    const Key sought = {rule.around, rule.symbols.data(), rule.links.data(), rule.symbols.size(), rule.links.size()};
    const auto found =
        std::lower_bound(counts.entries.begin(), counts.entries.end(), sought,
                         [&](const auto& entry, const Key& key) { return before(key_of(counts, entry), key); });
    --found->count;
  }
  count_extracted(occurrence, UINT32_MAX, counts);
}

}  // namespace itersel
