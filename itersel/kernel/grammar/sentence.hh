// A sentence to decode with a text grammar: its words in the grammar's numbering, and the decoder's own rules for it.
#pragma once

#include <string_view>
#include <vector>

#include "grammar/grammar.hh"
#include "grammar/problem.hh"

namespace itersel {

constexpr std::size_t kMaxWords = 32000;

enum class PassThrough {
  kUnknown,  // copy only words that no rule translates on their own; others if nothing else leads to a translation
  kAll       // offer a copy of every word, as cdec does
};

// Adds glue and pass-through rules (with their features) to a table; used for text grammars and for shards.
template <class Words, class Features>
class OwnRules {
 public:
  OwnRules(const Lexicon& lexicon, std::uint32_t goal, std::uint32_t default_nonterminal,
           const TemplateOptions& templates, Words& words, Features& features, RuleTable& table,
           SchemaInterner& schemas)
      : goal_(goal),
        default_(default_nonterminal),
        templates_(templates),
        features_(features),
        table_(table),
        namer_(templates_, words, lexicon.labels, features),
        schemas_(schemas) {}

  std::uint32_t glue_first() { return add(goal_, {nonterminal(default_)}, {-1}, ""); }
  std::uint32_t glue_next() { return add(goal_, {nonterminal(goal_), nonterminal(default_)}, {-1, -2}, "Glue"); }
  std::uint32_t pass_through(std::uint32_t word) {
    return add(default_, {static_cast<Symbol>(word)}, {static_cast<Symbol>(word)}, "PassThrough");
  }

 private:
  std::uint32_t add(std::uint32_t lhs, const std::vector<Symbol>& source, const std::vector<Symbol>& target,
                    std::string_view feature) {
    Rule rule{};
    rule.lhs = static_cast<std::uint16_t>(lhs);
    rule.pattern = static_cast<std::uint32_t>(table_.patterns.size());
    std::uint16_t arity = 0;
    for (Symbol symbol : source) arity += symbol < 0;
    table_.patterns.push_back(
        {static_cast<std::uint32_t>(table_.symbols.size()), static_cast<std::uint16_t>(source.size()), arity});
    table_.symbols.append(source.begin(), source.end());
    rule.target = static_cast<std::uint32_t>(table_.symbols.size());
    rule.target_length = static_cast<std::uint16_t>(target.size());
    table_.symbols.append(target.begin(), target.end());
    std::vector<std::uint32_t> ids;
    rule.values = static_cast<std::uint32_t>(table_.values.size());
    if (!feature.empty()) {
      ids.push_back(features_.intern(feature));
      table_.values.push_back(1);
    }
    rule.schema = schemas_.intern(table_, ids);
    ids.clear();
    if (templates_.any()) {
      namer_.set_source(source.data(), static_cast<std::uint32_t>(source.size()));
      namer_.append(lhs, target.data(), static_cast<std::uint32_t>(target.size()), ids);
    }
    rule.sparse = static_cast<std::uint32_t>(table_.sparse.size());
    rule.sparse_length = static_cast<std::uint16_t>(ids.size());
    table_.sparse.append(ids.begin(), ids.end());
    table_.rules.push_back(rule);
    return static_cast<std::uint32_t>(table_.rules.size() - 1);
  }

  std::uint32_t goal_, default_;
  const TemplateOptions templates_;
  Features& features_;
  RuleTable& table_;
  TemplateNamer<Words, Features> namer_;
  SchemaInterner& schemas_;
};

// True if the grammar alone gives the word a translation as the default non-terminal.
bool translates_alone(const SourceIndex& index, std::uint32_t word, std::uint32_t default_nonterminal);

// Everything about one sentence that outlives the search. Refers to the grammar, which must live as long.
class Sentence {
 public:
  // Throws InputError if there are more than kMaxWords words.
  Sentence(const Grammar& grammar, const std::vector<std::string_view>& words, PassThrough pass_through);

  Problem& problem() { return problem_; }
  const ExtendedStrings& words() const { return words_; }
  const ExtendedStrings& features() const { return features_; }
  std::string text(const std::vector<std::uint32_t>& words) const;

 private:
  ExtendedStrings words_, features_;
  RuleTable extra_;
  Problem problem_;
};

}  // namespace itersel
