// Synchronous rules as columns: source patterns, target sides, named values, template features, word alignment.
//
// Symbols are 32-bit integers. A word is its id (>= 0) in the lexicon. On the source side a non-terminal with label l
// is -1 - l; on the target side the first and second source non-terminals are -1 and -2.
//
// A rule's features come in two parts. Named values (`EgivenFCoherent=1.7`) share a schema, the list of their feature
// ids, since thousands of rules carry the same names; template features (rule identity, bigrams, shape) are plain ids,
// each standing for +1 (an id that occurs twice counts two).
#pragma once

#include <cstdint>
#include <vector>

#include "base/column.hh"
#include "base/string_table.hh"

namespace itersel {

using Symbol = std::int32_t;

inline Symbol nonterminal(std::uint32_t label) { return -1 - static_cast<Symbol>(label); }
inline std::uint32_t label_of(Symbol symbol) { return static_cast<std::uint32_t>(-1 - symbol); }

constexpr std::uint32_t kMaxNonterminals = 2;

struct Pattern {  // the source side
  std::uint32_t symbols;
  std::uint16_t length;
  std::uint16_t arity;
};

struct Rule {
  std::uint32_t pattern;
  std::uint32_t target;     // first symbol of the target side
  std::uint32_t schema;     // names of the values
  std::uint32_t values;     // first value
  std::uint32_t sparse;     // first template feature
  std::uint32_t alignment;  // first link
  std::uint16_t target_length;
  std::uint16_t sparse_length;
  std::uint16_t lhs;
  std::uint16_t alignment_length;
};

struct Range {
  std::uint32_t begin, end;
};

struct Link {
  std::uint16_t source, target;
};

struct RuleTable {
  Column<Symbol> symbols;
  Column<Pattern> patterns;
  Column<Rule> rules;
  Column<float> values;
  Column<std::uint32_t> sparse;
  Column<Range> schemas;  // into schema_features
  Column<std::uint32_t> schema_features;
  Column<Link> alignments;

  const Symbol* source(const Pattern& pattern) const { return symbols.data() + pattern.symbols; }
  const Symbol* target(const Rule& rule) const { return symbols.data() + rule.target; }
  const Range& schema(const Rule& rule) const { return schemas[rule.schema]; }
};

// The strings a rule table's numbers stand for.
struct Lexicon {
  StringTable words, labels, features;
};

// Interns schemas (lists of feature ids) into a table under construction.
class SchemaInterner {
 public:
  std::uint32_t intern(RuleTable& table, const std::vector<std::uint32_t>& features);

 private:
  std::uint32_t last_ = 0;
  std::vector<std::vector<std::uint32_t>> buckets_;  // schema ids by hash
};

// ⟨w, f(rule)⟩ of the rule's own features (no word penalty, no language model).
inline double rule_score(const RuleTable& table, const Rule& rule, const double* weights) {
  double score = 0;
  const Range& schema = table.schema(rule);
  const float* value = table.values.data() + rule.values;
  for (std::uint32_t at = schema.begin; at < schema.end; ++at) score += weights[table.schema_features[at]] * *value++;
  const std::uint32_t* sparse = table.sparse.data() + rule.sparse;
  for (std::uint32_t at = 0; at < rule.sparse_length; ++at) score += weights[sparse[at]];
  return score;
}

}  // namespace itersel
