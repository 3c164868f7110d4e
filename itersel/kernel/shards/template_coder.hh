// Template features of rules, almost for free: a bigram or shape that occurred before has the feature it had then, so
// only new ones are stored, and those mostly have the next number that no rule had yet.
//
// Reading and writing walk the rules in the same order and share this walk; they differ in what they do about a feature
// that does not follow from what came before.
#pragma once

#include <string>
#include <vector>

#include "base/varint.hh"
#include "grammar/rules.hh"
#include "grammar/templates.hh"

namespace itersel {

// Feature numbers by a 64-bit key.
class FeatureMemo {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;

  // The place for the key's feature, kNone if the key is new. Valid until the next call.
  std::uint32_t& operator[](std::uint64_t key) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[find(key)];
    if (slot.key == kEmpty) {
      slot.key = key;
      ++size_;
    }
    return slot.feature;
  }

 private:
  static constexpr std::uint64_t kEmpty = ~0ull;
  struct Slot {
    std::uint64_t key = kEmpty;
    std::uint32_t feature = kNone;
  };

  std::size_t find(std::uint64_t key) const {
    std::size_t mask = slots_.size() - 1, at = (key * 0x9E3779B97F4A7C15ull >> 32) & mask;
    while (slots_[at].key != key && slots_[at].key != kEmpty) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 1024 : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.key != kEmpty) slots_[find(slot.key)] = slot;
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

class TemplateCoder {
 public:
  explicit TemplateCoder(const TemplateOptions& options) : options_(options), shapes_(32 * 32, FeatureMemo::kNone) {}

  // How many features a rule has.
  std::uint32_t count(const Pattern& pattern, const Rule& rule) const {
    return (options_.source_bigrams ? pattern.length + 1u : 0u) + options_.identity +
           (options_.target_bigrams ? rule.target_length + 1u : 0u) + options_.shape;
  }

  // Writing: appends to `bytes` what is new in the rule's features. False if the features do not follow the templates.
  bool write(const RuleTable& table, const Rule& rule, std::string& bytes) {
    const Pattern& pattern = table.patterns[rule.pattern];
    if (rule.sparse_length != count(pattern, rule)) return false;
    const std::uint32_t* at = table.sparse.data() + rule.sparse;
    bool good = true;
    walk(table, pattern, rule, [&](std::uint32_t& known) {
      const std::uint32_t feature = *at++;
      if (known == FeatureMemo::kNone) {
        append_varint(bytes, feature == next_ ? 0 : std::uint64_t{feature} + 1);
        know(known, feature);
      }
      good = good && known == feature;
    });
    return good;
  }

  // Reading: writes the rule's features to `sparse`, taking what is new from `codes`.
  void read(const RuleTable& table, const Rule& rule, VarintReader& codes, std::uint32_t* sparse) {
    walk(table, table.patterns[rule.pattern], rule, [&](std::uint32_t& known) {
      if (known == FeatureMemo::kNone) {
        const std::uint32_t code = codes.next();
        know(known, code == 0 ? next_ : code - 1);
      }
      *sparse++ = known;
    });
  }

 private:
  static constexpr std::uint32_t kBorder = 0x7FFFFFFFu, kNonterminal = 0x80000000u;

  void know(std::uint32_t& known, std::uint32_t feature) {
    known = feature;
    if (feature >= next_ && feature != FeatureMemo::kNone) next_ = feature + 1;
  }

  // Calls `visit` with the place of each feature that a rule has, in the order of TemplateNamer.
  template <class Visit>
  void walk(const RuleTable& table, const Pattern& pattern, const Rule& rule, Visit visit) {
    const Symbol *source = table.source(pattern), *target = table.target(rule);
    if (options_.source_bigrams) {
      std::uint32_t last = kBorder;
      for (std::uint32_t at = 0; at < pattern.length; ++at) {
        const std::uint32_t symbol =
            source[at] < 0 ? kNonterminal | label_of(source[at]) : static_cast<std::uint32_t>(source[at]);
        visit(source_bigrams_[std::uint64_t{last} << 32 | symbol]);
        last = symbol;
      }
      visit(source_bigrams_[std::uint64_t{last} << 32 | kBorder]);
    }
    if (options_.identity) {
      std::uint32_t fresh = FeatureMemo::kNone;
      visit(fresh);
    }
    if (options_.target_bigrams) {
      std::uint32_t labels[kMaxNonterminals] = {0, 0}, seen = 0;
      for (std::uint32_t at = 0; at < pattern.length; ++at)
        if (source[at] < 0 && seen < kMaxNonterminals) labels[seen++] = label_of(source[at]);
      std::uint32_t last = kBorder;
      for (std::uint32_t at = 0; at < rule.target_length; ++at) {
        std::uint32_t symbol = static_cast<std::uint32_t>(target[at]);
        if (target[at] < 0) symbol = kNonterminal | labels[label_of(target[at]) & 1] << 1 | (label_of(target[at]) & 1);
        visit(target_bigrams_[std::uint64_t{last} << 32 | symbol]);
        last = symbol;
      }
      visit(target_bigrams_[std::uint64_t{last} << 32 | kBorder]);
    }
    if (options_.shape) visit(shapes_[shape(source, pattern.length) * 32 + shape(target, rule.target_length)]);
  }

  // The slots of TemplateNamer::shape as bits.
  static std::uint32_t shape(const Symbol* symbols, std::uint32_t length) {
    std::uint32_t bits = 0, slot = 0;
    for (std::uint32_t at = 0; at < length; ++at) {
      if (symbols[at] < 0)
        slot += slot % 2 ? 2 : 1;
      else if (slot % 2)
        ++slot;
      bits |= 1u << slot;
    }
    return bits & 31;
  }

  TemplateOptions options_;
  FeatureMemo source_bigrams_, target_bigrams_;
  std::vector<std::uint32_t> shapes_;
  std::uint32_t next_ = 0;  // above every feature so far
};

}  // namespace itersel
