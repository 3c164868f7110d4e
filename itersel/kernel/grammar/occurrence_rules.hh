// The rules that one occurrence of a source pattern in a training sentence supports (Chiang 2007, section 3.2).
//
// A phrase pair is a source span and a target span of at most max_span words each, with at least one link inside and
// no link that leaves it; tight ones begin and end with aligned words. The pattern's gaps must be phrase pairs, and so
// must the whole rule. The pattern may be extended by a non-terminal on its left, its right, or both: each then
// covers the shortest span that makes a rule.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "grammar/bitext_index.hh"
#include "grammar/extract_options.hh"
#include "grammar/pattern_matcher.hh"

namespace itersel {

// Which non-terminals were added around the pattern, in the order rules are listed.
enum class Around : std::uint32_t { kLeft = 0, kBoth = 1, kNone = 2, kRight = 3 };
inline bool on_left(Around around) { return around == Around::kLeft || around == Around::kBoth; }
inline bool on_right(Around around) { return around == Around::kRight || around == Around::kBoth; }

// Target symbols are word ids, or 2 − n for the non-terminal [X,n].
constexpr std::uint32_t target_nonterminal(std::uint32_t number) { return 2 - number; }
constexpr std::uint32_t rule_link(std::uint32_t source, std::uint32_t target) { return source << 16 | target; }

// Lexicographically: -1, 0 or 1.
inline int compare_words(const std::uint32_t* a, std::size_t a_size, const std::uint32_t* b, std::size_t b_size) {
  const std::uint32_t* end = a + std::min(a_size, b_size);
  const auto [left, right] = std::mismatch(a, end, b);
  if (left != end) return *left < *right ? -1 : 1;
  return a_size < b_size ? -1 : a_size > b_size ? 1 : 0;
}

// The target symbols are at `begin`, the links follow: rule_link() of symbol positions, ascending.
struct OccurrenceRule {
  Around around;
  std::uint32_t begin;
  std::uint16_t symbols_size, links_size;
};

class OccurrenceRules {
 public:
  OccurrenceRules(const BitextIndex& index, const ExtractOptions& options) : index_(index), options_(options) {}

  // The pattern whose occurrences are read next: the number of words of each chunk.
  void start(const PhrasePattern& pattern);

  // Reads the pattern's occurrences, each given by its chunks' positions, and calls consume() after each one.
  template <class Consumer>
  void read_each(const std::uint32_t* positions, std::size_t count, Consumer&& consume) {
    for (std::size_t done = 0; done < count; done += kBatch) {
      const std::size_t size = std::min(kBatch, count - done);
      locate(positions + done * chunks_, size);
      for (std::size_t i = 0; i < size; ++i) {
        read(pairs_[i], positions + (done + i) * chunks_);
        consume();
      }
    }
  }

  // The rules of the occurrence that was read last; each rule comes once.
  const OccurrenceRule* begin() const { return rules_.data(); }
  const OccurrenceRule* end() const { return rules_.data() + size_; }
  const std::uint32_t* symbols(const OccurrenceRule& rule) const { return pool_.data() + rule.begin; }
  const std::uint32_t* links(const OccurrenceRule& rule) const { return symbols(rule) + rule.symbols_size; }
  std::uint32_t sentence() const { return sentence_; }

 private:
  static constexpr std::size_t kBatch = 16;
  // A sentence pair: its number, and its words in the index.
  struct Pair {
    std::uint32_t sentence, source_begin, source_end, target_begin, target_end;
  };
  struct Span {
    int low, high;
  };
  struct Gap {
    Span source, target;
    std::uint32_t number;
  };

  void locate(const std::uint32_t* positions, std::size_t count);
  void read(const Pair& pair, const std::uint32_t* positions);
  bool aligned(int word) const { return source_span_[word].aligned(); }
  static Span project(const LinkSpan* spans, Span words);
  bool phrase_pair(Span source, Span& target) const;
  bool find_inner_gaps(const std::uint32_t* positions);
  void extend(Around around, Span pattern, Span target, Span back);
  bool close(Span pattern, bool left, bool right, Span& source, Span& target) const;
  void emit(Around around, Span target);
  void emit_loose(Around around, Span target);
  void loosen_gap(Around around, Span target, std::size_t next);
  void drop_repeated();

  const BitextIndex& index_;
  const ExtractOptions options_;
  std::uint32_t symbols_ = 0, chunks_ = 0, length_[kMaxChunks] = {};
  // Of the sentence pair being read.
  Pair pairs_[kBatch] = {};
  const LinkSpan *source_span_ = nullptr, *target_span_ = nullptr;
  std::uint32_t sentence_ = 0, source_begin_ = 0, target_begin_ = 0, links_ = 0;
  int source_size_ = 0, target_size_ = 0;
  int chunk_[kMaxChunks] = {};
  Gap inner_[kMaxChunks - 1] = {};
  std::vector<Gap> gaps_;  // of the rule at hand, in target order
  std::vector<OccurrenceRule> rules_;
  std::vector<std::uint32_t> pool_;
  std::size_t size_ = 0, first_ = 0, used_ = 0;
};

}  // namespace itersel
