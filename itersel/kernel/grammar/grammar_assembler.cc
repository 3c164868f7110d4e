#include "grammar/grammar_assembler.hh"

#include <utility>

#include "grammar/rule_features.hh"

namespace itersel {

void GrammarAssembler::start(const ModelNames& names) {
  ++number_;
  pattern_rules_.clear();
  grammar_ = std::make_shared<Grammar>();
  grammar_->templates = {false, false, false, false};
  grammar_->names = names;
  StringTable& labels = grammar_->lexicon.labels;
  grammar_->goal = labels.intern(names.goal);
  grammar_->default_nonterminal = labels.intern(names.default_nonterminal);
}

void GrammarAssembler::append(const PhrasePattern& pattern, const RuleBlock& block) {
  if (block.rules.empty()) return;
  if (grammar_->table.schemas.empty()) {
    label_ = static_cast<std::uint16_t>(grammar_->lexicon.labels.intern("X"));
    std::vector<std::uint32_t> features;
    for (std::size_t i = 0; i < features_; ++i)
      features.push_back(grammar_->lexicon.features.intern(kRuleFeatureNames[i]));
    SchemaInterner().intern(grammar_->table, features);
  }
  block.each_side([&](const RuleBlock::Side& side, std::uint32_t at) {
    append_pattern(pattern, side.around);
    for (; at < side.end; ++at) append_rule(block, block.rules[at], side.singleton);
  });
}

std::shared_ptr<const Grammar> GrammarAssembler::finish() {
  index_rules(*grammar_, pattern_rules_);
  return std::exchange(grammar_, nullptr);
}

template <class Text>
Symbol GrammarAssembler::word(Known& known, Text&& text) {
  if (known.grammar != number_) known = {number_, grammar_->lexicon.words.intern(text())};
  return static_cast<Symbol>(known.word);
}

void GrammarAssembler::append_pattern(const PhrasePattern& pattern, Around around) {
  symbols_.clear();
  std::uint16_t arity = 0;
  const auto gap = [&] {
    symbols_.push_back(nonterminal(label_));
    ++arity;
  };
  if (on_left(around)) gap();
  for (char32_t symbol : pattern) {
    if (symbol == kGap) {
      gap();
    } else {
      symbols_.push_back(word(source_[symbol], [&] { return index_.source_text(symbol); }));
    }
  }
  if (on_right(around)) gap();
  RuleTable& table = grammar_->table;
  table.patterns.push_back(
      {static_cast<std::uint32_t>(table.symbols.size()), static_cast<std::uint16_t>(symbols_.size()), arity});
  table.symbols.append(symbols_.begin(), symbols_.end());
  pattern_rules_.push_back(0);
}

void GrammarAssembler::append_rule(const RuleBlock& block, const RuleBlock::Entry& entry, bool singleton_source) {
  RuleTable& table = grammar_->table;
  Rule rule{};
  rule.lhs = label_;
  rule.pattern = static_cast<std::uint32_t>(table.patterns.size() - 1);
  rule.target = static_cast<std::uint32_t>(table.symbols.size());
  rule.target_length = entry.symbols_size;
  rule.values = static_cast<std::uint32_t>(table.values.size());
  rule.alignment = static_cast<std::uint32_t>(table.alignments.size());
  rule.alignment_length = entry.links_size;
  const std::uint32_t *symbols = block.symbols(entry), *links = block.links(entry);
  symbols_.clear();
  for (std::uint32_t i = 0; i < entry.symbols_size; ++i) {
    const std::uint32_t symbol = symbols[i];
    symbols_.push_back(symbol >= kFirstWord ? word(target_[symbol], [&] { return index_.target_text(symbol); })
                                            : static_cast<Symbol>(symbol) - 2);
  }
  table.symbols.append(symbols_.begin(), symbols_.end());
  double values[kRuleFeatures];
  float printed[kRuleFeatures];
  rule_features(block, entry, singleton_source, values);
  for (std::size_t i = 0; i < features_; ++i) printed[i] = as_printed(values[i]);
  table.values.append(printed, printed + features_);
  for (std::uint32_t i = 0; i < entry.links_size; ++i)
    table.alignments.push_back({static_cast<std::uint16_t>(links[i] >> 16), static_cast<std::uint16_t>(links[i])});
  ++pattern_rules_.back();
  table.rules.push_back(rule);
}

}  // namespace itersel
