#include "grammar/grammar_extractor.hh"

#include <algorithm>
#include <cmath>
#include <deque>
#include <unordered_map>

namespace itersel {
namespace {

constexpr double kNoLexicalEntry = 99;  // −log10 of the probability of words never linked

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
      blocks_(options.cache_bytes / 8 * 3),
      samples_(options.cache_bytes / 8) {}

std::string GrammarExtractor::extract(std::string_view sentence, const SentenceFilter& filter,
                                      const std::string& where) {
  std::vector<std::string_view> text;
  split_words(sentence, where, text);
  std::vector<std::uint32_t> words;
  for (std::string_view word : text) words.push_back(index_->source_word(word));
  const auto size = static_cast<std::uint32_t>(words.size());

  std::string grammar;
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
      grammar += found->text;
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
  return grammar;
}

GrammarExtractor::BlockPointer GrammarExtractor::block(const PhrasePattern& pattern, const SentenceFilter& filter) {
  if (filter.modulus == SentenceFilter::kOneSentence) return block_without(pattern, filter.remainder);
  PhrasePattern key = pattern;
  if (filter.modulus != 0) {
    key.push_back(kGap);  // no pattern ends like this
    key.push_back(filter.modulus);
    key.push_back(filter.remainder);
  }
  if (BlockPointer known = blocks_.get(key)) return known;
  return keep_block(key, make_block(pattern, *sample(*matcher_.find(pattern), filter), whole_));
}

// The sentence's own occurrences are taken out of the sample that all sentences share, and its links out of the lexical
// counts. A sample without any gives the block that all share, too: so it is with nearly all frequent patterns, which
// cost the most, and of whose words a single sentence has few links among many.
GrammarExtractor::BlockPointer GrammarExtractor::block_without(const PhrasePattern& pattern, std::uint32_t sentence) {
  SamplePointer shared = samples_.get(pattern);
  if (!shared) {
    const MatchesPointer matches = matcher_.find(pattern);
    shared = sample(*matches, {});
    // Of rare patterns the matcher has all occurrences at hand.
    if (shared->size() < matches->count)
      samples_.put(pattern, shared, shared->positions.size() * sizeof(std::uint32_t));
  }
  const std::uint32_t begin = index_->source_start[sentence];
  const std::uint32_t size = index_->source_start[sentence + 1] - begin;
  Sample rest;
  rest.chunks = shared->chunks;
  rest.occurs = shared->occurs;
  for (std::size_t i = 0; i < shared->size(); ++i) {
    if (shared->at(i)[0] - begin >= size) rest.add(shared->at(i));
  }
  if (rest.size() < shared->size()) {
    if (left_out_ != sentence) lexical_.leave_out(left_out_ = sentence);
    return make_block(pattern, rest, lexical_);
  }
  if (BlockPointer known = blocks_.get(pattern)) return known;
  return keep_block(pattern, make_block(pattern, *shared, whole_));
}

GrammarExtractor::BlockPointer GrammarExtractor::keep_block(const PhrasePattern& key, BlockPointer made) {
  blocks_.put(key, made, sizeof(Block) + made->text.capacity());
  return made;
}

GrammarExtractor::BlockPointer GrammarExtractor::make_block(const PhrasePattern& pattern, const Sample& sampled,
                                                            const LexicalTable& lexical) {
  auto result = std::make_shared<Block>();
  result->occurs = sampled.occurs;
  if (sampled.size() == 0) return result;
  counter_.clear();
  std::fill(extracted_, extracted_ + 4, 0);
  occurrence_rules_.start(pattern);
  for (std::size_t i = 0; i < sampled.size(); ++i) {
    occurrence_rules_.read(sampled.at(i));
    bool gave[4] = {};
    for (const OccurrenceRule& rule : occurrence_rules_) {
      counter_.add(rule);
      gave[static_cast<std::uint32_t>(rule.around)] = true;
    }
    for (int around = 0; around < 4; ++around) extracted_[around] += gave[around];
  }
  write_rules(pattern, sampled.size(), lexical, result->text);
  result->text.shrink_to_fit();
  return result;
}

// Chooses up to max_samples allowed occurrences, evenly spaced over the list.
GrammarExtractor::SamplePointer GrammarExtractor::sample(const Matches& matches, const SentenceFilter& filter) {
  auto result = std::make_shared<Sample>();
  result->chunks = matches.chunks;
  result->occurs = matches.count > 0;
  if (!result->occurs) return result;
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
  // Summed in floating point from the list's place in the suffix array, as cdec does: halves are rounded as it does.
  const auto base = matches.chunks == 1 ? static_cast<double>(matches.positions - index_->suffixes.data) : 0.0;
  double place = base;
  auto next_excluded = excluded_.begin();
  result->positions.reserve(wanted * matches.chunks);
  for (std::size_t i = 0; i < wanted; ++i, place += step) {
    // The place counts allowed occurrences only: skip the excluded ones before it.
    const auto index = std::min(static_cast<std::size_t>(std::round(place) - base), allowed - 1);
    while (next_excluded != excluded_.end() &&
           *next_excluded <= index + static_cast<std::size_t>(next_excluded - excluded_.begin())) {
      ++next_excluded;
    }
    const std::size_t occurrence = index + static_cast<std::size_t>(next_excluded - excluded_.begin());
    result->add(matches.positions + occurrence * matches.chunks);
  }
  return result;
}

void GrammarExtractor::write_rules(const PhrasePattern& pattern, std::size_t samples, const LexicalTable& lexical,
                                   std::string& text) {
  const std::vector<CountedRule>& rules = counter_.rules();
  source_words_.clear();
  for (char32_t symbol : pattern) {
    if (symbol != kGap) source_words_.push_back(symbol);
  }
  text.reserve(rules.size() * 224);
  const CountedRule* end = rules.data() + rules.size();
  for (const CountedRule* begin = rules.data(); begin != end;) {
    const CountedRule* next = begin;
    while (next != end && next->around == begin->around) ++next;
    write_source(pattern, begin->around);
    select_best(begin, next);
    const bool singleton_source = extracted_[static_cast<std::uint32_t>(begin->around)] == 1;
    for (const CountedRule* rule : selected_) write_rule(*rule, samples, singleton_source, lexical, text);
    begin = next;
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

void GrammarExtractor::write_source(const PhrasePattern& pattern, Around around) {
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
      source_side_ += index_->source_text(pattern[i]);
    }
  }
  if (on_right(around)) source_side_ += ' ', nonterminal();
  source_side_ += " ||| ";
}

void GrammarExtractor::write_rule(const CountedRule& rule, std::size_t samples, bool singleton_source,
                                  const LexicalTable& lexical, std::string& text) {
  text += source_side_;
  target_words_.clear();
  for (std::uint32_t i = 0; i < rule.symbols_size; ++i) {
    if (i > 0) text += ' ';
    const std::uint32_t symbol = rule.symbols[i];
    if (symbol >= kFirstWord) {
      text += index_->target_text(symbol);
      target_words_.push_back(symbol);
    } else {
      text += symbol == target_nonterminal(1) ? "[X,1]" : "[X,2]";
    }
  }
  double source_given_target = 0, target_given_source = 0;
  lexical_weights(lexical, source_given_target, target_given_source);
  const auto feature = [&](std::string_view name, double value) {
    text += name;
    numbers_.append(value, text);
  };
  feature(" ||| EgivenFCoherent=", -std::log10(static_cast<double>(rule.count) / static_cast<double>(samples)));
  feature(" SampleCountF=", std::log10(1.0 + static_cast<double>(samples)));
  feature(" CountEF=", std::log10(1.0 + rule.count));
  feature(" MaxLexFgivenE=", source_given_target);
  feature(" MaxLexEgivenF=", target_given_source);
  text += singleton_source ? " IsSingletonF=1" : " IsSingletonF=0";
  text += rule.count == 1 ? " IsSingletonFE=1 |||" : " IsSingletonFE=0 |||";
  for (std::uint32_t i = 0; i < rule.links_size; ++i) {
    char buffer[24] = {' '};
    char* end = std::to_chars(buffer + 1, buffer + sizeof buffer, rule.links[i] >> 16).ptr;
    *end++ = '-';
    end = std::to_chars(end, buffer + sizeof buffer, rule.links[i] & 0xFFFF).ptr;
    text.append(buffer, end);
  }
  text += '\n';
}

// −log10 of the best p(f|e) for each source word, and of the best p(e|f) for each target word; NULL competes.
void GrammarExtractor::lexical_weights(const LexicalTable& lexical, double& source_given_target,
                                       double& target_given_source) {
  const std::size_t source_size = source_words_.size();
  double best_target[2 * (UINT8_MAX + 1)] = {};
  source_words_.push_back(kNullWord);
  target_words_.push_back(kNullWord);
  const auto cost = [](double probability) { return probability > 0 ? -std::log10(probability) : kNoLexicalEntry; };
  source_given_target = target_given_source = 0;
  for (std::size_t i = 0; i < source_words_.size(); ++i) {
    double best_source = 0;
    for (std::size_t j = 0; j < target_words_.size(); ++j) {
      const double count = lexical.count(source_words_[i], target_words_[j]);
      if (count == 0) continue;
      best_source = std::max(best_source, count / lexical.target_total(target_words_[j]));
      best_target[j] = std::max(best_target[j], count / lexical.source_total(source_words_[i]));
    }
    if (i < source_size) source_given_target += cost(best_source);
  }
  source_words_.pop_back();
  target_words_.pop_back();
  for (std::size_t j = 0; j < target_words_.size(); ++j) target_given_source += cost(best_target[j]);
}

}  // namespace itersel
