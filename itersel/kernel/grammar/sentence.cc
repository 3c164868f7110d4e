#include "grammar/sentence.hh"

#include "base/error.hh"

namespace itersel {

bool translates_alone(const SourceIndex& index, std::uint32_t word, std::uint32_t default_nonterminal) {
  std::uint32_t node = index.child(SourceIndex::kRoot, static_cast<Symbol>(word));
  if (node == SourceIndex::kNone) return false;
  Range groups = index.groups_of(node);
  for (std::uint32_t group = groups.begin; group < groups.end; ++group)
    if (index.group(group).lhs == default_nonterminal) return true;
  return false;
}

Sentence::Sentence(const Grammar& grammar, const std::vector<std::string_view>& words, PassThrough pass_through)
    : words_(grammar.lexicon.words), features_(grammar.lexicon.features) {
  if (words.size() > kMaxWords)
    throw InputError("", "the sentence has " + std::to_string(words.size()) + " words; at most 32,000 can be decoded");
  SchemaInterner schemas;
  OwnRules<ExtendedStrings, ExtendedStrings> own(grammar.lexicon, grammar.goal, grammar.default_nonterminal,
                                                 grammar.templates, words_, features_, extra_, schemas);
  problem_.table = &grammar.table;
  problem_.index = &grammar.index;
  problem_.extra = &extra_;
  problem_.goal = grammar.goal;
  problem_.default_nonterminal = grammar.default_nonterminal;
  problem_.pass_through_all = pass_through == PassThrough::kAll;
  problem_.glue_first = own.glue_first();
  problem_.glue_next = own.glue_next();
  problem_.features = {features_.intern("WordPenalty"), features_.intern("LanguageModel"),
                       features_.intern("LanguageModel_OOV")};
  for (std::string_view text : words) {
    std::uint32_t word = words_.intern(text);
    problem_.words.push_back(word);
    bool copy =
        pass_through == PassThrough::kAll || !translates_alone(grammar.index, word, grammar.default_nonterminal);
    problem_.pass_through.push_back(copy ? own.pass_through(word) : 0xFFFFFFFFu);
  }
}

std::string Sentence::text(const std::vector<std::uint32_t>& words) const {
  std::string text;
  for (std::uint32_t word : words) {
    if (!text.empty()) text += ' ';
    text += words_[word];
  }
  return text;
}

}  // namespace itersel
