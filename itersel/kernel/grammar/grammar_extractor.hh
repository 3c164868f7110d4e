// The grammar of a source sentence: every pattern of it that occurs in the training text, with its rules and their
// features, as text in cdec's format.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/number_text.hh"
#include "grammar/bitext_index.hh"
#include "grammar/extract_options.hh"
#include "grammar/lexical_table.hh"
#include "grammar/occurrence_rules.hh"
#include "grammar/pattern_matcher.hh"
#include "grammar/rule_counter.hh"

namespace itersel {

// Not for use by several threads at once; the index may be shared.
class GrammarExtractor {
 public:
  GrammarExtractor(std::shared_ptr<const BitextIndex> index, const ExtractOptions& options);

  // `where` names the sentence in messages.
  std::string extract(std::string_view sentence, const SentenceFilter& filter, const std::string& where);

  const BitextIndex& index() const { return *index_; }

 private:
  // What is known of a pattern: whether it occurs in training at all, and its rules as text.
  struct Block {
    bool occurs = false;
    std::string text;
  };
  using BlockPointer = std::shared_ptr<const Block>;

  // Occurrences to look at, each with one position per chunk.
  struct Sample {
    bool occurs = false;  // the pattern does, be it outside the sample
    std::uint32_t chunks = 1;
    std::vector<std::uint32_t> positions;
    std::size_t size() const { return positions.size() / chunks; }
    const std::uint32_t* at(std::size_t i) const { return positions.data() + i * chunks; }
    void add(const std::uint32_t* occurrence) { positions.insert(positions.end(), occurrence, occurrence + chunks); }
  };
  using SamplePointer = std::shared_ptr<const Sample>;

  BlockPointer block(const PhrasePattern& pattern, const SentenceFilter& filter);
  BlockPointer block_without(const PhrasePattern& pattern, std::uint32_t sentence);
  BlockPointer keep_block(const PhrasePattern& key, BlockPointer made);
  BlockPointer make_block(const PhrasePattern& pattern, const Sample& sampled, const LexicalTable& lexical);
  SamplePointer sample(const Matches& matches, const SentenceFilter& filter);
  void write_rules(const PhrasePattern& pattern, std::size_t samples, const LexicalTable& lexical, std::string& text);
  void select_best(const CountedRule* begin, const CountedRule* end);
  void write_source(const PhrasePattern& pattern, Around around);
  void write_rule(const CountedRule& rule, std::size_t samples, bool singleton_source, const LexicalTable& lexical,
                  std::string& text);
  void lexical_weights(const LexicalTable& lexical, double& source_given_target, double& target_given_source);

  std::shared_ptr<const BitextIndex> index_;
  const ExtractOptions options_;
  PatternMatcher matcher_;
  OccurrenceRules occurrence_rules_;
  RuleCounter counter_;
  const LexicalTable whole_;
  LexicalTable lexical_;  // without the links of the sentence that is left out
  std::uint32_t left_out_ = UINT32_MAX;
  NumberText numbers_;
  GenerationCache<PhrasePattern, BlockPointer> blocks_;
  GenerationCache<PhrasePattern, SamplePointer> samples_;  // of frequent patterns, for leaving out a sentence
  // Scratch of the pattern at hand.
  std::vector<std::size_t> excluded_;
  std::vector<const CountedRule*> selected_;
  std::vector<std::uint32_t> source_words_, target_words_;
  std::uint32_t extracted_[4] = {};  // sampled occurrences that gave a rule, per Around
  std::string source_side_;
};

}  // namespace itersel
