// A grammar read from cdec's text form: the rules, their strings, and the index the decoder matches with.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/rules.hh"
#include "grammar/source_index.hh"
#include "grammar/templates.hh"

namespace itersel {

// Names with a meaning of their own.
struct ModelNames {
  std::string goal;                 // label a whole sentence must have
  std::string default_nonterminal;  // label of pass-through rules, glued together to the goal
};

struct Grammar {
  Lexicon lexicon;
  RuleTable table;
  TemplateOptions templates;
  ModelNames names;
  std::uint32_t goal, default_nonterminal;  // label ids
  SourceIndex index;

  std::size_t size() const { return table.rules.size(); }
};

// Parses `[X] ||| source ||| target ||| name=value … ||| i-j …`, one rule per line; the last two fields may be missing.
// Throws InputError with `path:line`.
std::shared_ptr<const Grammar> parse_grammar(std::string_view text, const std::string& path,
                                             const TemplateOptions& templates, const ModelNames& names);

// Completes a grammar whose rules were put into its table: brings equal source sides together and makes the index.
// `pattern_rules` has the number of rules of each pattern.
void index_rules(Grammar& grammar, const std::vector<std::uint32_t>& pattern_rules);

// The text form of the rules, in the order in which they were read.
std::string write_grammar(const Grammar& grammar);

// One rule's text form, without the line feed. `features` limits the field to the named values (no templates).
std::string write_rule(const RuleTable& table, const Lexicon& lexicon, const Rule& rule);

}  // namespace itersel
