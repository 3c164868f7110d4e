// Where a source pattern, contiguous or with gaps, occurs in the training text (Lopez 2007).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/generation_cache.hh"
#include "grammar/bitext_index.hh"
#include "grammar/extract_options.hh"

namespace itersel {

// Source word ids; kGap stands for one or more words. Begins and ends with a word, no two gaps are adjacent.
using PhrasePattern = std::u32string;
constexpr char32_t kGap = 0;
constexpr std::uint32_t kMaxChunks = 3;

// Occurrences in a fixed order. Each has one position per chunk (maximal run of words): where it starts.
struct Matches {
  const std::uint32_t* positions = nullptr;
  std::uint32_t chunks = 1;
  std::size_t count = 0;
  std::vector<std::uint32_t> owned;  // what `positions` points to, unless that is the index's suffix array
};
using MatchesPointer = std::shared_ptr<const Matches>;

class PatternMatcher {
 public:
  PatternMatcher(const IndexedText& index, const ExtractOptions& options, std::size_t cache_bytes);

  // All occurrences within max_span words. Contiguous patterns come in suffix order. Patterns with gaps inherit the
  // order of their prefix's or suffix's list, whichever is cheaper to extend; those between very frequent phrases,
  // whose lists are extended most often, come in text order.
  MatchesPointer find(const PhrasePattern& pattern);

  void limit_cache(std::size_t bytes) { cache_.limit(bytes); }

 private:
  using Marks = std::vector<std::uint64_t>;  // a bit for each position of the text

  MatchesPointer find_contiguous(const PhrasePattern& pattern);
  MatchesPointer find_discontiguous(const PhrasePattern& pattern);
  MatchesPointer find_frequent(const PhrasePattern& pattern);
  std::uint32_t frequency_rank(const PhrasePattern& phrase);
  MatchesPointer in_text_order(std::uint32_t rank, const PhrasePattern& phrase);
  const Marks& marks_of(std::uint32_t rank, const PhrasePattern& phrase);
  // These leave what they find in `found_`, up to the pointer that they return.
  const std::uint32_t* join(const Matches& prefix, std::uint32_t first_length, const Marks& last,
                            std::uint32_t last_length);
  const std::uint32_t* extend_right(const Matches& prefix, std::uint32_t last_length, bool gap, std::uint32_t word);
  const std::uint32_t* extend_left(const Matches& suffix, std::uint32_t last_length, bool gap, std::uint32_t word);
  std::uint32_t* make_room(std::uint32_t* end, std::uint32_t chunks);

  const IndexedText& index_;
  const ExtractOptions options_;
  GenerationCache<PhrasePattern, MatchesPointer> cache_;
  std::unordered_map<std::uint64_t, std::uint32_t> ranks_;           // low << 32 | length -> rank
  std::vector<char> in_frequent_;                                    // by word: whether a frequent phrase has it
  std::unordered_map<std::uint32_t, MatchesPointer> in_text_order_;  // rank -> occurrences of a frequent phrase
  Marks separators_;
  std::unordered_map<std::uint32_t, Marks> marks_;  // rank -> where a frequent phrase starts
  std::vector<std::uint32_t> found_;
};

}  // namespace itersel
