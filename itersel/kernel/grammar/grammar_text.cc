#include "grammar/grammar_text.hh"

#include <charconv>
#include <string_view>

#include "grammar/rule_features.hh"

namespace itersel {

void GrammarText::append(const PhrasePattern& pattern, const RuleBlock& block, std::string& text) {
  std::size_t at = 0;
  for (const RuleBlock::Side& side : block.sides) {
    set_source(pattern, side.around);
    for (; at < side.end; ++at) append_rule(block, block.rules[at], side.singleton, text);
  }
}

void GrammarText::set_source(const PhrasePattern& pattern, Around around) {
  source_side_ = "[X] ||| ";
  char number = '1';
  const auto nonterminal = [&] {
    source_side_ += "[X,";
    source_side_ += number++;
    source_side_ += ']';
  };
  if (on_left(around)) nonterminal(), source_side_ += ' ';
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (i > 0) source_side_ += ' ';
    if (pattern[i] == kGap) {
      nonterminal();
    } else {
      source_side_ += index_.source_text(pattern[i]);
    }
  }
  if (on_right(around)) source_side_ += ' ', nonterminal();
  source_side_ += " ||| ";
}

void GrammarText::append_rule(const RuleBlock& block, const RuleBlock::Entry& rule, bool singleton_source,
                              std::string& text) {
  text += source_side_;
  const std::uint32_t *symbols = block.symbols(rule), *links = block.links(rule);
  for (std::uint32_t i = 0; i < rule.symbols_size; ++i) {
    if (i > 0) text += ' ';
    if (symbols[i] >= kFirstWord) {
      text += index_.target_text(symbols[i]);
    } else {
      text += symbols[i] == target_nonterminal(1) ? "[X,1]" : "[X,2]";
    }
  }
  text += " |||";
  double values[kRuleFeatures];
  rule_features(block, rule, singleton_source, values);
  for (std::size_t i = 0; i < kRuleFeatures; ++i) {
    text += ' ';
    text += kRuleFeatureNames[i];
    text += '=';
    if (values[i] == 0) {
      text += '0';
    } else if (values[i] == 1) {
      text += '1';
    } else {
      numbers_.append(values[i], text);
    }
  }
  text += " |||";
  for (std::uint32_t i = 0; i < rule.links_size; ++i) {
    char buffer[24] = {' '};
    char* end = std::to_chars(buffer + 1, buffer + sizeof buffer, links[i] >> 16).ptr;
    *end++ = '-';
    end = std::to_chars(end, buffer + sizeof buffer, links[i] & 0xFFFF).ptr;
    text.append(buffer, end);
  }
  text += '\n';
}

}  // namespace itersel
