// The language model's part of a search: state and score of a target side whose non-terminals have states already.
#pragma once

#include <cstdint>
#include <limits>
#include <lm/left.hh>
#include <lm/model.hh>

#include "grammar/rules.hh"

namespace itersel {

// Stands for <s> in front of a rule's target symbols.
constexpr Symbol kSentenceBegin = std::numeric_limits<Symbol>::min();

template <class Model>
class NgramScorer {
 public:
  using State = lm::ngram::ChartState;
  struct Left : lm::ngram::Left {
    explicit Left(const State& state) : lm::ngram::Left(state.left) {}
  };
  struct Right : lm::ngram::State {
    explicit Right(const lm::ngram::ChartState& state) : lm::ngram::State(state.right), left_is_full(state.left.full) {}
    bool left_is_full;  // of the state that it was first seen in
  };

  explicit NgramScorer(const Model& model) : model_(model) {}

  void set_weight(double weight) { weight_ = weight; }

  double weight() const { return weight_; }

  // log10 probability the words and the joints add; `symbols` are model indices, -1 and -2 for the tails, or, at the
  // start, kSentenceBegin.
  [[gnu::always_inline]] inline float combine(const Symbol* symbols, std::uint32_t length, const State* const tails[2],
                                              State& out) const {
    lm::ngram::RuleScore<Model> rule(model_, out);
    const Symbol* end = symbols + length;
    if (symbols != end && *symbols < 0) {
      if (*symbols == kSentenceBegin)
        rule.BeginSentence();
      else
        rule.BeginNonTerminal(*tails[-1 - *symbols], 0);
      ++symbols;
    }
    for (; symbols != end; ++symbols) {
      if (*symbols < 0)
        rule.NonTerminal(*tails[-1 - *symbols], 0);
      else
        rule.Terminal(static_cast<lm::WordIndex>(*symbols));
    }
    return rule.Finish();
  }

  // What is added where a piece with the left half follows one with the right half.
  float join(const Right& right, const Left& left) const {
    float score = 0;
    if (right.length && left.length) {
      // As RuleScore::NonTerminal does, without the state that comes of it.
      float backoffs[2][KENLM_MAX_ORDER - 1];
      const float* backoff = right.backoff;
      unsigned char used = right.length;
      bool left_done = right.left_is_full;
      for (unsigned char length = 1; length <= left.length; ++length) {
        float* next_backoff = backoffs[length & 1];
        const lm::FullScoreReturn extended = model_.ExtendLeft(right.words, right.words + used, backoff,
                                                               left.pointers[length - 1], length, next_backoff, used);
        left_done = left_done || extended.independent_left;
        score += left_done ? extended.prob : extended.rest;
        left_done = left_done || used != right.length;
        if (!used)
          return score + model_.UnRest(left.pointers + length, left.pointers + left.length,
                                       static_cast<unsigned char>(length + 1));
        backoff = next_backoff;
      }
      if (left.full)
        for (unsigned at = 0; at < used; ++at) score += backoff[at];
    } else if (left.length) {
      if (right.left_is_full) score += model_.UnRest(left.pointers, left.pointers + left.length, 1);
    } else if (left.full) {
      for (unsigned at = 0; at < right.length; ++at) score += right.backoff[at];
    }
    return score;
  }

  // What the sentence's borders add: </s> after and, unless the state has it already, <s> before.
  float finish(const State& state, bool begun) const {
    State out;
    lm::ngram::RuleScore<Model> rule(model_, out);
    if (begun) {
      rule.BeginNonTerminal(state, 0);
    } else {
      rule.BeginSentence();
      rule.NonTerminal(state, 0);
    }
    rule.Terminal(model_.GetVocabulary().EndSentence());
    return rule.Finish();
  }

  // As KenLM compares them, without a call: the last pointer to the left, the words to the right.
  static bool equal_left(const lm::ngram::Left& a, const State& state) {
    const lm::ngram::Left& b = state.left;
    if (a.length != b.length || a.full != b.full) return false;
    return !a.length || a.pointers[a.length - 1] == b.pointers[a.length - 1];
  }
  static bool equal_right(const lm::ngram::State& a, const State& state) {
    const lm::ngram::State& b = state.right;
    if (a.length != b.length) return false;
    for (unsigned at = 0; at < a.length; ++at)
      if (a.words[at] != b.words[at]) return false;
    return true;
  }
  static bool equal(const State& a, const State& b) { return equal_right(a.right, b) && equal_left(a.left, b); }

  // A state equal to those that the halves are of.
  static State whole(const Left& left, const Right& right) { return {left, right}; }

  // Of what equality looks at; the low bits are good.
  static std::uint32_t hash_left(const State& state) { return left_from(0, state) >> 32; }
  static std::uint32_t hash_right(const State& state) { return right_from(state) >> 32; }
  static std::uint64_t hash(const State& state) { return left_from(right_from(state), state) >> 32; }

 private:
  static constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15ull;

  static std::uint64_t right_from(const State& state) {
    std::uint64_t hash = state.right.length;
    for (unsigned at = 0; at < state.right.length; ++at) hash = (hash ^ state.right.words[at]) * kMultiplier;
    return hash;
  }
  static std::uint64_t left_from(std::uint64_t hash, const State& state) {
    if (state.left.length) hash ^= state.left.pointers[state.left.length - 1];
    return (hash ^ state.left.full << 8 ^ state.left.length) * kMultiplier;
  }

  const Model& model_;
  double weight_ = 0;
};

// Without a language model all states are equal, and the search is exact.
class NoScorer {
 public:
  struct State {};
  struct Left {
    explicit Left(const State&) {}
  };
  using Right = Left;

  double weight() const { return 0; }
  float combine(const Symbol*, std::uint32_t, const State* const[2], State&) const { return 0; }
  float join(const Right&, const Left&) const { return 0; }
  float finish(const State&, bool) const { return 0; }
  static bool equal_left(const Left&, const State&) { return true; }
  static bool equal_right(const Right&, const State&) { return true; }
  static bool equal(const State&, const State&) { return true; }
  static State whole(const Left&, const Right&) { return {}; }
  static std::uint32_t hash_left(const State&) { return 0; }
  static std::uint32_t hash_right(const State&) { return 0; }
  static std::uint64_t hash(const State&) { return 0; }
};

}  // namespace itersel
