#include "grammar/pattern_matcher.hh"

#include <algorithm>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace itersel {
namespace {

constexpr std::uint32_t kSuperFrequent = 10;  // phrases whose triples are kept in text order
constexpr std::uint32_t kNotFrequent = UINT32_MAX;
// Patterns of the greatest length are never extended: their lists are only worth keeping if they are small.
constexpr std::size_t kKeepLeaf = 4096;

std::vector<PhrasePattern> split_chunks(const PhrasePattern& pattern) {
  std::vector<PhrasePattern> chunks(1);
  for (char32_t symbol : pattern) {
    if (symbol == kGap) {
      chunks.emplace_back();
    } else {
      chunks.back().push_back(symbol);
    }
  }
  return chunks;
}

MatchesPointer finished(Matches&& matches) {
  matches.owned.shrink_to_fit();
  auto result = std::make_shared<Matches>(std::move(matches));
  result->positions = result->owned.data();
  result->count = result->owned.size() / result->chunks;
  return result;
}

// Calls found(place) for the places of the word in [next, limit), in order, up to the sentence's end.
template <class Found>
void scan(const std::uint32_t* source, std::uint32_t next, std::uint32_t limit, std::uint32_t word, Found&& found) {
#ifdef __SSE2__
  // Four words at a time: this is where a search among frequent words spends its time.
  const __m128i sought = _mm_set1_epi32(static_cast<int>(word)), end = _mm_set1_epi32(kSeparator);
  const auto places = [](__m128i equal) { return static_cast<unsigned>(_mm_movemask_ps(_mm_castsi128_ps(equal))); };
  for (; next + 4 <= limit; next += 4) {
    const __m128i words = _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + next));
    const unsigned ends = places(_mm_cmpeq_epi32(words, end));
    unsigned hits = places(_mm_cmpeq_epi32(words, sought));
    if (ends != 0) hits &= (ends & (0 - ends)) - 1;  // those before the first end
    for (; hits != 0; hits &= hits - 1) found(next + static_cast<std::uint32_t>(__builtin_ctz(hits)));
    if (ends != 0) return;
  }
#endif
  for (; next < limit && source[next] != kSeparator; ++next) {
    if (source[next] == word) found(next);
  }
}

}  // namespace

PatternMatcher::PatternMatcher(const BitextIndex& index, const ExtractOptions& options, std::size_t cache_bytes)
    : index_(index), options_(options), cache_(cache_bytes) {
  for (std::uint32_t rank = 0; rank < index_.frequent.size; ++rank) {
    const FrequentPhrase& phrase = index_.frequent[rank];
    ranks_.emplace(std::uint64_t{phrase.low} << 32 | phrase.length, rank);
  }
}

MatchesPointer PatternMatcher::find(const PhrasePattern& pattern) {
  MatchesPointer result = cache_.get(pattern);
  if (result) return result;
  const bool contiguous = pattern.find(kGap) == PhrasePattern::npos;
  result = contiguous ? find_contiguous(pattern) : find_discontiguous(pattern);
  if (pattern.size() < options_.max_symbols || result->owned.size() <= kKeepLeaf) {
    cache_.put(pattern, result, sizeof(Matches) + result->owned.size() * sizeof(std::uint32_t));
  }
  return result;
}

MatchesPointer PatternMatcher::find_contiguous(const PhrasePattern& pattern) {
  auto result = std::make_shared<Matches>();
  const std::uint32_t *suffixes = index_.suffixes.data, word = pattern.back();
  if (word + 1 >= index_.bucket.size) return result;
  if (pattern.size() == 1) {
    result->positions = suffixes + index_.bucket[word];
    result->count = index_.bucket[word + 1] - index_.bucket[word];
    return result;
  }
  const MatchesPointer prefix = find(pattern.substr(0, pattern.size() - 1));
  const std::size_t depth = pattern.size() - 1;
  // No separator is a pattern's word, and the text ends in one: position + depth is always inside.
  const auto before = [&](std::uint32_t suffix, std::uint32_t sought) {
    return index_.source[suffix + depth] < sought;
  };
  const std::uint32_t* end = prefix->positions + prefix->count;
  const std::uint32_t* low = std::lower_bound(prefix->positions, end, word, before);
  const std::uint32_t* high = std::lower_bound(low, end, word + 1, before);
  result->positions = low;
  result->count = static_cast<std::size_t>(high - low);
  if (result->count > 0 && pattern.size() > options_.max_span) result->count = 0;
  return result;
}

MatchesPointer PatternMatcher::find_discontiguous(const PhrasePattern& pattern) {
  if (MatchesPointer frequent = find_frequent(pattern)) return frequent;
  const bool right_gap = pattern[pattern.size() - 2] == kGap, left_gap = pattern[1] == kGap;
  const PhrasePattern prefix_pattern = pattern.substr(0, pattern.size() - (right_gap ? 2 : 1));
  const PhrasePattern suffix_pattern = pattern.substr(left_gap ? 2 : 1);
  Matches result;
  result.chunks = static_cast<std::uint32_t>(std::count(pattern.begin(), pattern.end(), kGap)) + 1;
  const MatchesPointer prefix = find(prefix_pattern);
  if (prefix->count == 0) return finished(std::move(result));
  const MatchesPointer suffix = find(suffix_pattern);
  if (suffix->count == 0) return finished(std::move(result));
  const std::size_t right_cost = prefix->count * prefix->chunks * (right_gap ? options_.max_span : 1);
  const std::size_t left_cost = suffix->count * suffix->chunks * (left_gap ? options_.max_span : 1);
  const auto last_length = [](const PhrasePattern& part) {
    const std::size_t gap = part.rfind(kGap);
    return static_cast<std::uint32_t>(gap == PhrasePattern::npos ? part.size() : part.size() - gap - 1);
  };
  if (right_cost <= left_cost) {
    extend_right(*prefix, last_length(prefix_pattern), right_gap, pattern.back(), result);
  } else {
    extend_left(*suffix, last_length(suffix_pattern), left_gap, pattern.front(), result);
  }
  return finished(std::move(result));
}

std::uint32_t PatternMatcher::frequency_rank(const PhrasePattern& phrase) {
  const MatchesPointer matches = find(phrase);
  if (matches->count == 0) return kNotFrequent;
  const auto low = static_cast<std::uint64_t>(matches->positions - index_.suffixes.data);
  auto found = ranks_.find(low << 32 | phrase.size());
  return found == ranks_.end() ? kNotFrequent : found->second;
}

// Pairs of frequent phrases, and triples around a super-frequent one, in text order; otherwise an empty pointer.
MatchesPointer PatternMatcher::find_frequent(const PhrasePattern& pattern) {
  if (ranks_.empty()) return nullptr;
  const std::vector<PhrasePattern> chunks = split_chunks(pattern);
  std::uint32_t ranks[kMaxChunks];
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    ranks[i] = frequency_rank(chunks[i]);
    if (ranks[i] == kNotFrequent) return nullptr;
  }
  const auto super = [&](std::size_t i) { return ranks[i] < kSuperFrequent; };
  if (chunks.size() == kMaxChunks && !(super(1) && (super(0) || super(2)))) return nullptr;

  MatchesPointer prefix;
  if (chunks.size() == 2) {
    MatchesPointer& sorted = in_text_order_[ranks[0]];
    if (!sorted) {
      const MatchesPointer first = find(chunks[0]);
      Matches copy;
      copy.owned.assign(first->positions, first->positions + first->count);
      std::sort(copy.owned.begin(), copy.owned.end());
      sorted = finished(std::move(copy));
    }
    prefix = sorted;
  } else {
    prefix = find(chunks[0] + kGap + chunks[1]);
  }
  // Extend by the last phrase's first word, then check that the rest of it follows.
  Matches result;
  result.chunks = static_cast<std::uint32_t>(chunks.size());
  const PhrasePattern& last = chunks.back();
  extend_right(*prefix, static_cast<std::uint32_t>(chunks[chunks.size() - 2].size()), true, last.front(), result);
  for (std::size_t length = 1; length < last.size(); ++length) {
    result.positions = result.owned.data();
    result.count = result.owned.size() / result.chunks;
    Matches longer;
    longer.chunks = result.chunks;
    extend_right(result, static_cast<std::uint32_t>(length), false, last[length], longer);
    result = std::move(longer);
  }
  return finished(std::move(result));
}

void PatternMatcher::extend_right(const Matches& prefix, std::uint32_t last_length, bool gap, std::uint32_t word,
                                  Matches& result) {
  const std::uint32_t *source = index_.source.data, chunks = prefix.chunks;
  const auto size = static_cast<std::uint32_t>(index_.source.size);
  const std::uint32_t *occurrence = prefix.positions, *end = prefix.positions + prefix.count * chunks;
  for (; occurrence != end; occurrence += chunks) {
    const std::uint32_t next = occurrence[chunks - 1] + last_length;
    const std::uint32_t limit = occurrence[0] + options_.max_span;
    if (!gap) {
      if (next < limit && source[next] == word) {
        result.owned.insert(result.owned.end(), occurrence, occurrence + chunks);
      }
      continue;
    }
    if (next >= limit || source[next] == kSeparator) continue;
    scan(source, next + 1, std::min(limit, size), word, [&](std::uint32_t found) {
      result.owned.insert(result.owned.end(), occurrence, occurrence + chunks);
      result.owned.push_back(found);
    });
  }
}

void PatternMatcher::extend_left(const Matches& suffix, std::uint32_t last_length, bool gap, std::uint32_t word,
                                 Matches& result) {
  const std::uint32_t *source = index_.source.data, chunks = suffix.chunks;
  const std::uint32_t *occurrence = suffix.positions, *end = suffix.positions + suffix.count * chunks;
  for (; occurrence != end; occurrence += chunks) {
    std::uint32_t next = occurrence[0];
    const std::uint32_t last = occurrence[chunks - 1] + last_length;
    const std::uint32_t limit = last > options_.max_span ? last - options_.max_span : 0;
    if (!gap) {
      if (next > limit && source[next - 1] == word) {
        result.owned.push_back(next - 1);
        result.owned.insert(result.owned.end(), occurrence + 1, occurrence + chunks);
      }
      continue;
    }
    if (next <= limit || source[--next] == kSeparator) continue;
    while (next > limit) {
      const std::uint32_t found = source[--next];
      if (found == kSeparator) break;
      if (found != word) continue;
      result.owned.push_back(next);
      result.owned.insert(result.owned.end(), occurrence, occurrence + chunks);
    }
  }
}

}  // namespace itersel
