// The grammar of a source sentence: every pattern of it that occurs in the training text, with its rules and their
// features, as text in cdec's format or ready for a decoder or a shard.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grammar/bitext_index.hh"
#include "grammar/extract_options.hh"
#include "grammar/grammar_assembler.hh"
#include "grammar/grammar_text.hh"
#include "grammar/lexical_table.hh"
#include "grammar/lexical_weights.hh"
#include "grammar/occurrence_rules.hh"
#include "grammar/pattern_matcher.hh"
#include "grammar/rule_block.hh"
#include "grammar/rule_counter.hh"
#include "grammar/target_phrases.hh"

namespace itersel {

// Not for use by several threads at once; the index may be shared.
class GrammarExtractor {
 public:
  GrammarExtractor(std::shared_ptr<const BitextIndex> index, const ExtractOptions& options);

  // `where` names the sentence in messages. The text is valid until the next call.
  std::string_view extract_text(std::string_view sentence, const SentenceFilter& filter, const std::string& where);

  // The same rules, as parse_grammar would read them from the text.
  std::shared_ptr<const Grammar> extract(std::string_view sentence, const SentenceFilter& filter,
                                         const std::string& where, const ModelNames& names);

  const BitextIndex& index() const { return *index_; }

 private:
  using BlockPointer = std::shared_ptr<const RuleBlock>;

  // Occurrences to look at, each with one position per chunk.
  struct Sample {
    bool occurs = false;  // the pattern does, be it outside the sample
    std::uint32_t chunks = 1;
    double scale = 1;  // occurrences for each one in the sample
    std::vector<std::uint32_t> positions;
    std::size_t size() const { return positions.size() / chunks; }
    const std::uint32_t* at(std::size_t i) const { return positions.data() + i * chunks; }
    void add(const std::uint32_t* occurrence) { positions.insert(positions.end(), occurrence, occurrence + chunks); }
  };
  using SamplePointer = std::shared_ptr<const Sample>;
  using CountsPointer = std::shared_ptr<const RuleCounts>;

  // Calls consume(pattern, block) for the patterns of the sentence, in the order of the grammar.
  template <class Consumer>
  void walk(std::string_view sentence, const SentenceFilter& filter, const std::string& where, Consumer&& consume);
  BlockPointer block(const PhrasePattern& pattern, const SentenceFilter& filter);
  BlockPointer block_without(const PhrasePattern& pattern, std::uint32_t sentence);
  BlockPointer keep_block(const PhrasePattern& key, BlockPointer made);
  const RuleCounts& count(const PhrasePattern& pattern, const Sample& sampled);
  const RuleCounts& count_without(const PhrasePattern& pattern, const Sample& shared, const Sample& own);
  // `scale`: of the sample; `filter`: whose target phrases count.
  BlockPointer make_block(const PhrasePattern& pattern, const RuleCounts& counts, std::size_t samples, double scale,
                          const LexicalTable& lexical, const SentenceFilter& filter);
  double phrase_cost(const CountedRule& rule, double scale, const SentenceFilter& filter);
  void sample(const Matches& matches, const SentenceFilter& filter, Sample& result);
  static BlockPointer no_rules(bool occurs);
  const LexicalTable& lexical_counts(const SentenceFilter& filter);
  void select_best(const CountedRule* begin, const CountedRule* end);

  std::shared_ptr<const BitextIndex> index_;
  const ExtractOptions options_;
  PatternMatcher matcher_;
  OccurrenceRules occurrence_rules_;
  RuleCounter counter_;
  const LexicalTable whole_;
  LexicalTable lexical_;  // without the links of the sentence that is left out
  LexicalWeights lexical_weights_;
  std::unique_ptr<TargetPhrases> target_phrases_;  // if they are asked for
  GrammarText text_;
  GrammarAssembler assembler_;
  std::uint32_t left_out_ = UINT32_MAX;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::unique_ptr<LexicalTable>> fold_tables_;
  bool shares_samples_ = false;  // sentences were left out: the caches below get a part of the memory
  GenerationCache<PhrasePattern, BlockPointer> blocks_;
  // For leaving out a sentence: samples of frequent patterns, and counts of samples that have sentences left out.
  GenerationCache<PhrasePattern, SamplePointer> samples_;
  GenerationCache<PhrasePattern, CountsPointer> counts_;
  // Scratch of the pattern at hand.
  Sample sampled_;
  std::vector<std::size_t> excluded_;
  std::vector<CountedRule> rules_;
  std::vector<const CountedRule*> selected_;
  std::vector<std::uint32_t> source_words_, target_words_;
  RuleCounts remaining_;
};

}  // namespace itersel
