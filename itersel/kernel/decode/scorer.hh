// The language model's part of a search: state and score of a target side whose non-terminals have states already.
#pragma once

#include <cstdint>
#include <lm/left.hh>
#include <lm/model.hh>
#include <vector>

#include "grammar/rules.hh"

namespace itersel {

template <class Model>
class NgramScorer {
 public:
  using State = lm::ngram::ChartState;

  explicit NgramScorer(const Model& model) : model_(model) {}

  void set_weight(double weight) { weight_ = weight; }

  double weight() const { return weight_; }

  // log10 probability the words and the joints add; `symbols` are model indices or -1, -2 for the tails.
  [[gnu::always_inline]] inline float combine(const Symbol* symbols, std::uint32_t length, const State* const tails[2],
                                              State& out) const {
    lm::ngram::RuleScore<Model> rule(model_, out);
    const Symbol* end = symbols + length;
    if (symbols != end && *symbols < 0) rule.BeginNonTerminal(*tails[-1 - *symbols++], 0);
    for (; symbols != end; ++symbols) {
      if (*symbols < 0)
        rule.NonTerminal(*tails[-1 - *symbols], 0);
      else
        rule.Terminal(static_cast<lm::WordIndex>(*symbols));
    }
    return rule.Finish();
  }

  // The words of a rule alone: each run between non-terminals on its own. Most runs are single words, whose score is
  // kept.
  [[gnu::noinline]] float words_alone(const Symbol* symbols, std::uint32_t length) {
    float total = 0;
    State state;
    for (const Symbol *at = symbols, *end = symbols + length; at != end;) {
      if (*at < 0) {
        ++at;
        continue;
      }
      const Symbol* start = at;
      while (at != end && *at >= 0) ++at;
      const State* const none[2] = {nullptr, nullptr};
      if (at - start > 1) {
        total += combine(start, static_cast<std::uint32_t>(at - start), none, state);
        continue;
      }
      std::size_t word = static_cast<std::size_t>(*start);
      if (word >= single_words_.size()) single_words_.resize(word + 1, kUnset);
      if (single_words_[word] == kUnset) single_words_[word] = combine(start, 1, none, state);
      total += single_words_[word];
    }
    return total;
  }

  // What the sentence's borders add: <s> before, </s> after.
  float finish(const State& state) const {
    State out;
    lm::ngram::RuleScore<Model> rule(model_, out);
    rule.BeginSentence();
    rule.NonTerminal(state, 0);
    rule.Terminal(model_.GetVocabulary().EndSentence());
    return rule.Finish();
  }

  // As KenLM compares them, without a call.
  static bool equal(const State& a, const State& b) {
    if (a.right.length != b.right.length || a.left.length != b.left.length || a.left.full != b.left.full) return false;
    for (unsigned at = 0; at < a.right.length; ++at)
      if (a.right.words[at] != b.right.words[at]) return false;
    return !a.left.length || a.left.pointers[a.left.length - 1] == b.left.pointers[b.left.length - 1];
  }
  // What equality looks at: the words to the right, and the last pointer to the left.
  static std::uint64_t hash(const State& state) {
    constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15ull;
    std::uint64_t hash = state.right.length;
    for (unsigned at = 0; at < state.right.length; ++at) hash = (hash ^ state.right.words[at]) * kMultiplier;
    if (state.left.length) hash ^= state.left.pointers[state.left.length - 1];
    hash = (hash ^ state.left.full << 8 ^ state.left.length) * kMultiplier;
    return hash >> 32;
  }

 private:
  const Model& model_;
  double weight_ = 0;
  static constexpr float kUnset = 1;  // no log probability
  std::vector<float> single_words_;   // by model index
};

// Without a language model all states are equal, and the search is exact.
class NoScorer {
 public:
  struct State {};

  double weight() const { return 0; }
  float combine(const Symbol*, std::uint32_t, const State* const[2], State&) const { return 0; }
  float words_alone(const Symbol*, std::uint32_t) const { return 0; }
  float finish(const State&) const { return 0; }
  static bool equal(const State&, const State&) { return true; }
  static std::uint64_t hash(const State&) { return 0; }
};

}  // namespace itersel
