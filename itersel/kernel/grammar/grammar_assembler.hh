// Extracted rules as a grammar, without text in between. The grammar equals the one that is read from their text form.
#pragma once

#include <memory>
#include <vector>

#include "base/number_text.hh"
#include "grammar/bitext_index.hh"
#include "grammar/grammar.hh"
#include "grammar/pattern_matcher.hh"
#include "grammar/rule_block.hh"

namespace itersel {

class GrammarAssembler {
 public:
  // `features`: how many of kRuleFeatureNames.
  GrammarAssembler(const BitextIndex& index, std::size_t features)
      : index_(index), features_(features), source_(index.source_total.size), target_(index.target_total.size) {}

  void start(const ModelNames& names);
  void append(const PhrasePattern& pattern, const RuleBlock& block);
  std::shared_ptr<const Grammar> finish();

 private:
  // Numbers of the index's words in the grammar at hand.
  struct Known {
    std::uint32_t grammar = 0, word = 0;
  };
  template <class Text>
  Symbol word(Known& known, Text&& text);
  void append_pattern(const PhrasePattern& pattern, Around around);
  void append_rule(const RuleBlock& block, const RuleBlock::Entry& entry, bool singleton_source);

  const BitextIndex& index_;
  const std::size_t features_;
  std::vector<Known> source_, target_;
  std::uint32_t number_ = 0;  // of the grammar
  std::shared_ptr<Grammar> grammar_;
  std::vector<std::uint32_t> pattern_rules_;  // number of rules per pattern
  std::vector<Symbol> symbols_;
  std::uint16_t label_ = 0;
};

}  // namespace itersel
