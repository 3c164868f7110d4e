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

}  // namespace

void RuleCounter::clear() {
  // A table that a rare, very productive pattern blew up must not slow down all later ones.
  if (table_.size() > kInitialTable && entries_.size() * 8 < table_.size()) table_.resize(kInitialTable);
  table_.resize(std::max(table_.size(), kInitialTable));
  if (!entries_.empty()) std::fill(table_.begin(), table_.end(), 0);
  pool_.clear();
  entries_.clear();
}

void RuleCounter::add(const OccurrenceRule& rule) {
  std::uint64_t hash =
      hash_words(static_cast<std::uint64_t>(rule.around) + 1, rule.symbols.begin(), rule.symbols.end());
  hash = hash_words(~hash, rule.links.begin(), rule.links.end());
  const std::size_t mask = table_.size() - 1;
  std::size_t slot = hash & mask;
  for (; table_[slot] != 0; slot = (slot + 1) & mask) {
    Entry& entry = entries_[table_[slot] - 1];
    if (entry.hash == hash && entry.around == rule.around && entry.symbols_size == rule.symbols.size() &&
        entry.links_size == rule.links.size() &&
        std::equal(rule.symbols.begin(), rule.symbols.end(), pool_.begin() + entry.offset) &&
        std::equal(rule.links.begin(), rule.links.end(), pool_.begin() + entry.offset + entry.symbols_size)) {
      ++entry.count;
      return;
    }
  }
  entries_.push_back({hash, static_cast<std::uint32_t>(pool_.size()), static_cast<std::uint32_t>(rule.symbols.size()),
                      static_cast<std::uint32_t>(rule.links.size()), 1, rule.around});
  pool_.insert(pool_.end(), rule.symbols.begin(), rule.symbols.end());
  pool_.insert(pool_.end(), rule.links.begin(), rule.links.end());
  table_[slot] = static_cast<std::uint32_t>(entries_.size());
  if (entries_.size() * 2 > table_.size()) grow();
}

void RuleCounter::grow() {
  table_.assign(table_.size() * 2, 0);
  const std::size_t mask = table_.size() - 1;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    std::size_t slot = entries_[i].hash & mask;
    while (table_[slot] != 0) slot = (slot + 1) & mask;
    table_[slot] = static_cast<std::uint32_t>(i + 1);
  }
}

const std::vector<CountedRule>& RuleCounter::rules() {
  const std::uint32_t* pool = pool_.data();
  const auto compare = [](const std::uint32_t* a, std::uint32_t a_size, const std::uint32_t* b, std::uint32_t b_size) {
    const auto [left, right] = std::mismatch(a, a + std::min(a_size, b_size), b);
    if (left != a + std::min(a_size, b_size)) return *left < *right ? -1 : 1;
    return a_size < b_size ? -1 : a_size > b_size ? 1 : 0;
  };
  rules_.clear();
  for (const Entry& entry : entries_) {
    const std::uint32_t* key = pool + entry.offset;
    rules_.push_back({entry.around, key, entry.symbols_size, key + entry.symbols_size, entry.links_size, entry.count});
  }
  std::sort(rules_.begin(), rules_.end(), [&](const CountedRule& a, const CountedRule& b) {
    if (a.around != b.around) return a.around < b.around;
    const int order = compare(a.symbols, a.symbols_size, b.symbols, b.symbols_size);
    if (order != 0) return order < 0;
    return compare(a.links, a.links_size, b.links, b.links_size) < 0;
  });
  // Merge the alignments of a rule.
  std::size_t size = 0;
  std::uint32_t best = 0;
  for (const CountedRule& rule : rules_) {
    if (size > 0 && rules_[size - 1].around == rule.around &&
        compare(rules_[size - 1].symbols, rules_[size - 1].symbols_size, rule.symbols, rule.symbols_size) == 0) {
      CountedRule& merged = rules_[size - 1];
      merged.count += rule.count;
      if (rule.count > best) {
        best = rule.count;
        merged.links = rule.links;
        merged.links_size = rule.links_size;
      }
    } else {
      best = rule.count;
      rules_[size++] = rule;
    }
  }
  rules_.resize(size);
  return rules_;
}

}  // namespace itersel
