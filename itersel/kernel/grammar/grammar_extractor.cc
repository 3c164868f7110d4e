#include "grammar/grammar_extractor.hh"

#include <algorithm>
#include <cmath>
#include <deque>
#include <unordered_map>

#include "grammar/rule_features.hh"

namespace itersel {
namespace {

// Counting fewer occurrences again costs less than keeping their counts.
constexpr std::size_t kKeptCounts = 6;

// A pattern of the sentence that ends before word `next`; it is to be extended by that word.
struct State {
  std::uint32_t start, next;
  PhrasePattern pattern;
};

}  // namespace

GrammarExtractor::GrammarExtractor(std::shared_ptr<const BitextIndex> index, const ExtractOptions& options)
    : index_(std::move(index)),
      options_(options),
      matcher_(*index_, options, options.cache_bytes / 2),
      occurrence_rules_(*index_, options),
      whole_(*index_),
      lexical_(*index_),
      lexical_weights_(*index_),
      target_phrases_(options.phrase_features ? std::make_unique<TargetPhrases>(*index_, options) : nullptr),
      text_(*index_, options.phrase_features ? kRuleFeatures : kUsualFeatures),
      assembler_(*index_, options.phrase_features ? kRuleFeatures : kUsualFeatures),
      blocks_(options.cache_bytes / 2),
      samples_(options.cache_bytes / 8),
      counts_(options.cache_bytes / 4) {}

std::string_view GrammarExtractor::extract_text(std::string_view sentence, const SentenceFilter& filter,
                                                const std::string& where) {
  text_.start();
  walk(sentence, filter, where,
       [&](const PhrasePattern& pattern, const RuleBlock& found) { text_.append(pattern, found); });
  return text_.text();
}

std::shared_ptr<const Grammar> GrammarExtractor::extract(std::string_view sentence, const SentenceFilter& filter,
                                                         const std::string& where, const ModelNames& names) {
  assembler_.start(names);
  walk(sentence, filter, where,
       [&](const PhrasePattern& pattern, const RuleBlock& found) { assembler_.append(pattern, found); });
  return assembler_.finish();
}

template <class Consumer>
void GrammarExtractor::walk(std::string_view sentence, const SentenceFilter& filter, const std::string& where,
                            Consumer&& consume) {
  std::vector<std::string_view> text;
  split_words(sentence, where, text);
  std::vector<std::uint32_t> words;
  for (std::string_view word : text) words.push_back(index_->source_word(word));
  const auto size = static_cast<std::uint32_t>(words.size());

  std::unordered_map<PhrasePattern, bool> occurs;  // the patterns seen in this sentence
  std::deque<State> states;
  for (std::uint32_t i = 0; i < size; ++i) states.push_back({i, i, PhrasePattern()});
  for (; !states.empty(); states.pop_front()) {
    State& state = states.front();
    if (words[state.next] == kUnknownWord) continue;
    PhrasePattern pattern = std::move(state.pattern);
    pattern.push_back(words[state.next]);
    auto [seen, first_time] = occurs.try_emplace(pattern, false);
    if (first_time) {
      const BlockPointer found = block(pattern, filter);
      seen->second = found->occurs;
      consume(pattern, *found);
    }
    if (!seen->second) continue;

    const std::uint32_t end = std::min(size, state.start + options_.max_span);
    if (pattern.size() + 1 <= options_.max_symbols && state.next + 1 < end) {
      states.push_back({state.start, state.next + 1, pattern});
    }
    const auto gaps = static_cast<std::uint32_t>(std::count(pattern.begin(), pattern.end(), kGap));
    if (pattern.size() + 2 > options_.max_symbols || gaps >= options_.max_nonterminals) continue;
    const std::uint32_t start = state.start, after_gap = state.next + 2;
    pattern.push_back(kGap);
    for (std::uint32_t next = after_gap; next < end; ++next) states.push_back({start, next, pattern});
  }
}

GrammarExtractor::BlockPointer GrammarExtractor::block(const PhrasePattern& pattern, const SentenceFilter& filter) {
  if (filter.modulus == SentenceFilter::kOneSentence) return block_without(pattern, filter.remainder);
  PhrasePattern with_fold;
  if (filter.modulus != 0) {
    with_fold = pattern;
    with_fold.push_back(kGap);  // no pattern ends like this
    with_fold.push_back(filter.modulus);
    with_fold.push_back(filter.remainder);
  }
  const PhrasePattern& key = filter.modulus != 0 ? with_fold : pattern;
  if (BlockPointer known = blocks_.get(key)) return known;
  const MatchesPointer matches = matcher_.find(pattern);
  if (matches->count == 0) return no_rules(false);  // the matcher remembers that
  sample(*matches, filter, sampled_);
  if (sampled_.size() == 0) return no_rules(true);
  return keep_block(key, make_block(pattern, count(pattern, sampled_), sampled_.size(), sampled_.scale,
                                    lexical_counts(filter), filter));
}

GrammarExtractor::BlockPointer GrammarExtractor::no_rules(bool occurs) {
  const auto make = [](bool somewhere) {
    auto block = std::make_shared<RuleBlock>();
    block->occurs = somewhere;
    return block;
  };
  static const BlockPointer nowhere = make(false), left_out = make(true);
  return occurs ? left_out : nowhere;
}

// The links that a sentence of this fold may know. All folds at hand are kept, unless that takes too much memory.
const LexicalTable& GrammarExtractor::lexical_counts(const SentenceFilter& filter) {
  if (filter.modulus == 0) return whole_;
  auto& table = fold_tables_[{filter.modulus, filter.remainder}];
  if (!table) {
    table = std::make_unique<LexicalTable>(*index_);
    table->leave_out_fold(filter.modulus, filter.remainder);
    if (fold_tables_.size() > 1 && fold_tables_.size() * table->bytes() > options_.cache_bytes / 4) {
      auto kept = std::move(table);
      fold_tables_.clear();
      return *(fold_tables_[{filter.modulus, filter.remainder}] = std::move(kept));
    }
  }
  return *table;
}

// The sentence's own occurrences are taken out of the sample that all sentences share, and its links out of the lexical
// counts. A sample without any gives the block that all share, too: so it is with nearly all frequent patterns, which
// cost the most, and of whose words a single sentence has few links among many.
GrammarExtractor::BlockPointer GrammarExtractor::block_without(const PhrasePattern& pattern, std::uint32_t sentence) {
  if (!shares_samples_) {
    shares_samples_ = true;
    matcher_.limit_cache(options_.cache_bytes / 8 * 3);
    blocks_.limit(options_.cache_bytes / 4);
  }
  SamplePointer shared = samples_.get(pattern);
  if (!shared) {
    const MatchesPointer matches = matcher_.find(pattern);
    auto made = std::make_shared<Sample>();
    sample(*matches, {}, *made);
    shared = made;
    // Of rare patterns the matcher has all occurrences at hand.
    if (shared->size() < matches->count)
      samples_.put(pattern, shared, shared->positions.size() * sizeof(std::uint32_t));
  }
  const std::uint32_t begin = index_->source_start[sentence];
  const std::uint32_t size = index_->source_start[sentence + 1] - begin;
  Sample own;
  own.chunks = shared->chunks;
  for (std::size_t i = 0; i < shared->size(); ++i) {
    if (shared->at(i)[0] - begin < size) own.add(shared->at(i));
  }
  if (own.size() == shared->size()) return no_rules(shared->occurs);
  if (own.size() > 0) {
    if (left_out_ != sentence) lexical_.leave_out(left_out_ = sentence);
    return make_block(pattern, count_without(pattern, *shared, own), shared->size() - own.size(), shared->scale,
                      lexical_, {SentenceFilter::kOneSentence, sentence});
  }
  if (BlockPointer known = blocks_.get(pattern)) return known;
  return keep_block(pattern, make_block(pattern, count(pattern, *shared), shared->size(), shared->scale, whole_, {}));
}

GrammarExtractor::BlockPointer GrammarExtractor::keep_block(const PhrasePattern& key, BlockPointer made) {
  blocks_.put(key, made, made->bytes());
  return made;
}

const RuleCounts& GrammarExtractor::count(const PhrasePattern& pattern, const Sample& sampled) {
  counter_.clear();
  occurrence_rules_.start(pattern);
  occurrence_rules_.read_each(sampled.at(0), sampled.size(), [&] { counter_.add(occurrence_rules_); });
  return counter_.counts();
}

// The counts of the sample without `own`, which are some of its occurrences, in their order.
const RuleCounts& GrammarExtractor::count_without(const PhrasePattern& pattern, const Sample& shared,
                                                  const Sample& own) {
  if (shared.size() < kKeptCounts) {
    Sample rest;
    rest.chunks = shared.chunks;
    for (std::size_t i = 0, left_out = 0; i < shared.size(); ++i) {
      if (left_out < own.size() && std::equal(own.at(left_out), own.at(left_out) + own.chunks, shared.at(i))) {
        ++left_out;
      } else {
        rest.add(shared.at(i));
      }
    }
    return count(pattern, rest);
  }
  CountsPointer all = counts_.get(pattern);
  if (!all) {
    all = std::make_shared<RuleCounts>(count(pattern, shared));
    counts_.put(pattern, all, all->bytes());
  }
  remaining_ = *all;
  occurrence_rules_.start(pattern);
  occurrence_rules_.read_each(own.at(0), own.size(), [&] { RuleCounter::subtract(occurrence_rules_, remaining_); });
  return remaining_;
}

GrammarExtractor::BlockPointer GrammarExtractor::make_block(const PhrasePattern& pattern, const RuleCounts& counts,
                                                            std::size_t samples, double scale,
                                                            const LexicalTable& lexical, const SentenceFilter& filter) {
  auto result = std::make_shared<RuleBlock>();
  result->occurs = true;
  result->samples = static_cast<std::uint32_t>(samples);
  RuleCounter::merge(counts, rules_);
  if (rules_.empty()) return result;
  source_words_.clear();
  for (char32_t symbol : pattern) {
    if (symbol != kGap) source_words_.push_back(symbol);
  }
  lexical_weights_.start(source_words_, lexical);
  result->rules.reserve(rules_.size());
  std::size_t symbols = 0;
  for (const CountedRule& rule : rules_) symbols += rule.symbols_size + rule.links_size;
  result->pool.reserve(symbols);
  const CountedRule* end = rules_.data() + rules_.size();
  for (const CountedRule* begin = rules_.data(); begin != end;) {
    const CountedRule* next = begin;
    while (next != end && next->around == begin->around) ++next;
    select_best(begin, next);
    for (const CountedRule* rule : selected_) {
      target_words_.clear();
      for (std::uint32_t i = 0; i < rule->symbols_size; ++i) {
        if (rule->symbols[i] >= kFirstWord) target_words_.push_back(rule->symbols[i]);
      }
      RuleBlock::Entry entry = {static_cast<std::uint32_t>(result->pool.size()),
                                static_cast<std::uint16_t>(rule->symbols_size),
                                static_cast<std::uint16_t>(rule->links_size),
                                rule->count,
                                0,
                                0,
                                phrase_cost(*rule, scale, filter)};
      lexical_weights_.weigh(target_words_, entry.source_given_target, entry.target_given_source);
      result->rules.push_back(entry);
      result->pool.insert(result->pool.end(), rule->symbols, rule->symbols + rule->symbols_size);
      result->pool.insert(result->pool.end(), rule->links, rule->links + rule->links_size);
    }
    const bool singleton = counts.extracted[static_cast<std::uint32_t>(begin->around)] == 1;
    result->sides[result->side_count++] = {begin->around, singleton, static_cast<std::uint32_t>(result->rules.size())};
    begin = next;
  }
  return result;
}

// The joint count is scaled up from the sample; what the scaling overrates is a probability of 1.
double GrammarExtractor::phrase_cost(const CountedRule& rule, double scale, const SentenceFilter& filter) {
  if (!target_phrases_) return 0;
  const double joint = rule.count * scale;
  const double target = target_phrases_->count(rule.symbols, rule.symbols_size, filter);
  return joint < target ? -std::log10(joint / target) : 0;
}

// Chooses up to max_samples allowed occurrences, evenly spaced over the list.
void GrammarExtractor::sample(const Matches& matches, const SentenceFilter& filter, Sample& result) {
  result.positions.clear();
  result.chunks = matches.chunks;
  result.occurs = matches.count > 0;
  if (!result.occurs) return;
  excluded_.clear();
  if (filter.modulus != 0) {
    for (std::size_t i = 0; i < matches.count; ++i) {
      const std::uint32_t sentence = index_->sentence[matches.positions[i * matches.chunks]];
      if (sentence % filter.modulus == filter.remainder) excluded_.push_back(i);
    }
  }
  const std::size_t allowed = matches.count - excluded_.size();
  const std::size_t wanted = options_.max_samples == 0 ? allowed : std::min<std::size_t>(allowed, options_.max_samples);
  const double step = wanted == 0 ? 1 : static_cast<double>(allowed) / static_cast<double>(wanted);
  result.scale = step;
  // Summed in floating point from the list's place in the suffix array, as cdec does: halves are rounded as it does.
  const auto base = matches.chunks == 1 ? static_cast<double>(matches.positions - index_->suffixes.data) : 0.0;
  double place = base;
  auto next_excluded = excluded_.begin();
  result.positions.reserve(wanted * matches.chunks);
  for (std::size_t i = 0; i < wanted; ++i, place += step) {
    // The place counts allowed occurrences only: skip the excluded ones before it.
    const auto index = std::min(static_cast<std::size_t>(std::round(place) - base), allowed - 1);
    while (next_excluded != excluded_.end() &&
           *next_excluded <= index + static_cast<std::size_t>(next_excluded - excluded_.begin())) {
      ++next_excluded;
    }
    const std::size_t occurrence = index + static_cast<std::size_t>(next_excluded - excluded_.begin());
    result.add(matches.positions + occurrence * matches.chunks);
  }
}

// The max_rules_per_source most frequent rules, ties to the earlier ones, in their order.
void GrammarExtractor::select_best(const CountedRule* begin, const CountedRule* end) {
  selected_.clear();
  for (const CountedRule* rule = begin; rule != end; ++rule) selected_.push_back(rule);
  if (options_.max_rules_per_source == 0 || selected_.size() <= options_.max_rules_per_source) return;
  std::stable_sort(selected_.begin(), selected_.end(),
                   [](const CountedRule* a, const CountedRule* b) { return a->count > b->count; });
  selected_.resize(options_.max_rules_per_source);
  std::sort(selected_.begin(), selected_.end());
}

}  // namespace itersel
