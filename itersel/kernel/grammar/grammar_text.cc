#include "grammar/grammar_text.hh"

#include <charconv>
#include <cstring>

#include "grammar/rule_features.hh"

namespace itersel {
namespace {

constexpr std::string_view kBars = " |||";

char* write(std::string_view text, char* to) {
  std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

char* write_feature(std::size_t feature, double value, char* to) {
  *to++ = ' ';
  to = write(kRuleFeatureNames[feature], to);
  *to++ = '=';
  return write_number(value, to);
}

// A number below 65,536.
char* write_place(std::uint32_t number, char* to) {
  if (number < 10) {
    *to++ = static_cast<char>('0' + number);
    return to;
  }
  return std::to_chars(to, to + 8, number).ptr;
}

}  // namespace

void GrammarText::append(const PhrasePattern& pattern, const RuleBlock& block) {
  for (CountText& text : counts_) text.count = 0;
  block.each_side([&](const RuleBlock::Side& side, std::uint32_t at) {
    set_source(pattern, side.around);
    for (; at < side.end; ++at) append_rule(block, block.rules[at], side.singleton);
  });
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

const GrammarText::CountText& GrammarText::count_text(const RuleBlock& block, std::uint32_t count) {
  CountText& known = counts_[count % kCounts];
  if (known.count != count) {
    double values[kCountFeatures];
    count_features(block.samples, count, values);
    char* end = known.text;
    for (std::size_t i = 0; i < kCountFeatures; ++i) end = write_feature(i, values[i], end);
    known.count = count;
    known.size = static_cast<std::uint32_t>(end - known.text);
  }
  return known;
}

void GrammarText::append_rule(const RuleBlock& block, const RuleBlock::Entry& rule, bool singleton_source) {
  const std::uint32_t *symbols = block.symbols(rule), *links = block.links(rule);
  std::size_t room = source_side_.size() + 512 + std::size_t{rule.links_size} * 12;
  for (std::uint32_t i = 0; i < rule.symbols_size; ++i)
    room += symbols[i] >= kFirstWord ? index_.target_text(symbols[i]).size() + 1 : 6;
  if (buffer_.size() < size_ + room) buffer_.resize(2 * (size_ + room));

  char* to = write(source_side_, buffer_.data() + size_);
  for (std::uint32_t i = 0; i < rule.symbols_size; ++i) {
    if (i > 0) *to++ = ' ';
    if (symbols[i] >= kFirstWord) {
      to = write(index_.target_text(symbols[i]), to);
    } else {
      to = write(symbols[i] == target_nonterminal(1) ? "[X,1]" : "[X,2]", to);
    }
  }
  to = write(kBars, to);
  const CountText& count = count_text(block, rule.count);
  to = write({count.text, count.size}, to);
  double values[kRuleFeatures];
  other_features(rule, singleton_source, values);
  for (std::size_t i = kCountFeatures; i < features_; ++i) to = write_feature(i, values[i], to);
  to = write(kBars, to);
  for (std::uint32_t i = 0; i < rule.links_size; ++i) {
    *to++ = ' ';
    to = write_place(links[i] >> 16, to);
    *to++ = '-';
    to = write_place(links[i] & 0xFFFF, to);
  }
  *to++ = '\n';
  size_ = static_cast<std::size_t>(to - buffer_.data());
}

}  // namespace itersel
