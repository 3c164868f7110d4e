// Extracted rules as text in cdec's format.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/number_text.hh"
#include "grammar/bitext_index.hh"
#include "grammar/pattern_matcher.hh"
#include "grammar/rule_block.hh"

namespace itersel {

class GrammarText {
 public:
  // `features`: how many of kRuleFeatureNames.
  GrammarText(const BitextIndex& index, std::size_t features) : index_(index), features_(features) {}

  void start() { size_ = 0; }
  void append(const PhrasePattern& pattern, const RuleBlock& block);
  // What was appended since the start; valid until the next one.
  std::string_view text() const { return {buffer_.data(), size_}; }

 private:
  // The features of a rule that depend on its count alone, in a block: most rules have one of a few counts.
  static constexpr std::size_t kCounts = 16;
  struct CountText {
    std::uint32_t count = 0, size = 0;
    char text[112];
  };

  void set_source(const PhrasePattern& pattern, Around around);
  const CountText& count_text(const RuleBlock& block, std::uint32_t count);
  void append_rule(const RuleBlock& block, const RuleBlock::Entry& rule, bool singleton_source);

  const BitextIndex& index_;
  const std::size_t features_;
  std::vector<char> buffer_;
  std::size_t size_ = 0;
  std::string source_side_;
  CountText counts_[kCounts];
};

}  // namespace itersel
