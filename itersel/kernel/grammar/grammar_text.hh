// Extracted rules as text in cdec's format.
#pragma once

#include <string>

#include "base/number_text.hh"
#include "grammar/bitext_index.hh"
#include "grammar/pattern_matcher.hh"
#include "grammar/rule_block.hh"

namespace itersel {

class GrammarText {
 public:
  explicit GrammarText(const BitextIndex& index) : index_(index) {}

  void append(const PhrasePattern& pattern, const RuleBlock& block, std::string& text);

 private:
  void set_source(const PhrasePattern& pattern, Around around);
  void append_rule(const RuleBlock& block, const RuleBlock::Entry& rule, bool singleton_source, std::string& text);

  const BitextIndex& index_;
  NumberText numbers_;
  std::string source_side_;
};

}  // namespace itersel
