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

// Matches with copies of the positions, so that they take no more room than they need.
MatchesPointer make_matches(std::uint32_t chunks, const std::uint32_t* begin, const std::uint32_t* end) {
  if (begin == end) {
    static const auto none = std::make_shared<const Matches>();
    return none;
  }
  auto result = std::make_shared<Matches>();
  result->chunks = chunks;
  result->owned.assign(begin, end);
  result->positions = result->owned.data();
  result->count = result->owned.size() / chunks;
  return result;
}

// Occurrences in suffix order lie anywhere in the text: ask early for the words of a later one.
void prefetch(const std::uint32_t* source, const std::uint32_t* occurrence, const std::uint32_t* end,
              std::uint32_t chunks) {
  constexpr std::ptrdiff_t kAhead = 12;
  if (end - occurrence > kAhead * chunks) __builtin_prefetch(source + occurrence[kAhead * chunks]);
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

void mark(std::vector<std::uint64_t>& marks, std::uint32_t place) {
  marks[place / 64] |= std::uint64_t{1} << place % 64;
}

// The marks of 64 places, the first one lowest.
std::uint64_t marks_from(const std::vector<std::uint64_t>& marks, std::uint32_t place) {
  const std::uint64_t* at = marks.data() + place / 64;
  return at[0] >> place % 64 | at[1] << 1 << (63 - place % 64);
}

}  // namespace

PatternMatcher::PatternMatcher(const IndexedText& index, const ExtractOptions& options, std::size_t cache_bytes)
    : index_(index), options_(options), cache_(cache_bytes) {
  if (index_.frequent.size == 0) return;
  in_frequent_.resize(index_.bucket.size);
  for (std::uint32_t rank = 0; rank < index_.frequent.size; ++rank) {
    const FrequentPhrase& phrase = index_.frequent[rank];
    ranks_.emplace(std::uint64_t{phrase.low} << 32 | phrase.length, rank);
    const std::uint32_t* words = index_.source.data + index_.suffixes[phrase.low];
    for (std::uint32_t i = 0; i < phrase.length; ++i) in_frequent_[words[i]] = 1;
  }
  separators_.resize(index_.source.size / 64 + 2);
  for (std::uint32_t i = 0; i < index_.source.size; ++i) {
    if (index_.source[i] == kSeparator) mark(separators_, i);
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
  const auto chunks = static_cast<std::uint32_t>(std::count(pattern.begin(), pattern.end(), kGap)) + 1;
  const MatchesPointer prefix = find(prefix_pattern);
  if (prefix->count == 0) return make_matches(chunks, nullptr, nullptr);
  const MatchesPointer suffix = find(suffix_pattern);
  if (suffix->count == 0) return make_matches(chunks, nullptr, nullptr);
  const std::size_t right_cost = prefix->count * prefix->chunks * (right_gap ? options_.max_span : 1);
  const std::size_t left_cost = suffix->count * suffix->chunks * (left_gap ? options_.max_span : 1);
  const auto last_length = [](const PhrasePattern& part) {
    const std::size_t gap = part.rfind(kGap);
    return static_cast<std::uint32_t>(gap == PhrasePattern::npos ? part.size() : part.size() - gap - 1);
  };
  const std::uint32_t* end = right_cost <= left_cost
                                 ? extend_right(*prefix, last_length(prefix_pattern), right_gap, pattern.back())
                                 : extend_left(*suffix, last_length(suffix_pattern), left_gap, pattern.front());
  return make_matches(chunks, found_.data(), end);
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
  for (char32_t symbol : pattern) {
    if (symbol != kGap && (symbol >= in_frequent_.size() || !in_frequent_[symbol])) return nullptr;
  }
  const std::vector<PhrasePattern> chunks = split_chunks(pattern);
  std::uint32_t ranks[kMaxChunks];
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    ranks[i] = frequency_rank(chunks[i]);
    if (ranks[i] == kNotFrequent) return nullptr;
  }
  const auto super = [&](std::size_t i) { return ranks[i] < kSuperFrequent; };
  if (chunks.size() == kMaxChunks && !(super(1) && (super(0) || super(2)))) return nullptr;

  const std::uint32_t first_length = static_cast<std::uint32_t>(chunks[chunks.size() - 2].size());
  const MatchesPointer prefix =
      chunks.size() == 2 ? in_text_order(ranks[0], chunks[0]) : find(chunks[0] + kGap + chunks[1]);
  const Marks& last = marks_of(ranks[chunks.size() - 1], chunks.back());
  const std::uint32_t* end = join(*prefix, first_length, last, static_cast<std::uint32_t>(chunks.back().size()));
  return make_matches(static_cast<std::uint32_t>(chunks.size()), found_.data(), end);
}

MatchesPointer PatternMatcher::in_text_order(std::uint32_t rank, const PhrasePattern& phrase) {
  MatchesPointer& sorted = in_text_order_[rank];
  if (!sorted) {
    const MatchesPointer matches = find(phrase);
    std::vector<std::uint32_t> positions(matches->positions, matches->positions + matches->count);
    std::sort(positions.begin(), positions.end());
    sorted = make_matches(1, positions.data(), positions.data() + positions.size());
  }
  return sorted;
}

// The places where a phrase starts, as bits; kept as long as all of them take little memory.
const PatternMatcher::Marks& PatternMatcher::marks_of(std::uint32_t rank, const PhrasePattern& phrase) {
  Marks& marks = marks_[rank];
  if (marks.empty()) {
    if (marks_.size() > 1 && marks_.size() * separators_.size() * sizeof separators_[0] > options_.cache_bytes / 8) {
      marks_.clear();
      return marks_of(rank, phrase);
    }
    marks.resize(separators_.size());
    const MatchesPointer matches = find(phrase);
    for (std::size_t i = 0; i < matches->count; ++i) mark(marks, matches->positions[i]);
  }
  return marks;
}

// Extends occurrences by a phrase after a gap, whose places are looked up 64 at a time: no branch depends on how far
// away the next one is.
const std::uint32_t* PatternMatcher::join(const Matches& prefix, std::uint32_t first_length, const Marks& last,
                                          std::uint32_t last_length) {
  const std::uint32_t chunks = prefix.chunks;
  std::uint32_t* to = found_.data();
  for (const std::uint32_t *at = prefix.positions, *end = at + prefix.count * chunks; at != end; at += chunks) {
    // From the gap's first word on, with which the phrase does not begin, to the last place where the phrase fits.
    std::uint32_t place = at[chunks - 1] + first_length;
    const std::uint32_t limit = at[0] + options_.max_span + 1 - last_length;
    to = make_room(to, chunks + 1);
    for (std::uint64_t gap = 1; place < limit; place += 64, gap = 0) {
      const std::uint64_t ends = marks_from(separators_, place);
      const std::uint64_t before_end = (ends & (0 - ends)) - 1;
      const std::uint64_t before_limit = limit - place < 64 ? (std::uint64_t{1} << (limit - place)) - 1 : UINT64_MAX;
      std::uint64_t hits = marks_from(last, place) & before_end & before_limit & ~gap;
      for (; hits != 0; hits &= hits - 1) {
        for (std::uint32_t i = 0; i < chunks; ++i) *to++ = at[i];
        *to++ = place + static_cast<std::uint32_t>(__builtin_ctzll(hits));
      }
      if (ends != 0) break;
    }
  }
  return to;
}

// Space in `found_`, behind `end`, for all that one occurrence can be extended to.
std::uint32_t* PatternMatcher::make_room(std::uint32_t* end, std::uint32_t chunks) {
  const auto used = static_cast<std::size_t>(end - found_.data());
  const std::size_t most = std::size_t{options_.max_span} * chunks;
  if (found_.size() < used + most) found_.resize(2 * (used + most));
  return found_.data() + used;
}

const std::uint32_t* PatternMatcher::extend_right(const Matches& prefix, std::uint32_t last_length, bool gap,
                                                  std::uint32_t word) {
  const std::uint32_t *source = index_.source.data, chunks = prefix.chunks;
  const auto size = static_cast<std::uint32_t>(index_.source.size);
  const std::uint32_t *occurrence = prefix.positions, *end = prefix.positions + prefix.count * chunks;
  std::uint32_t* to = found_.data();
  for (; occurrence != end; occurrence += chunks) {
    prefetch(source, occurrence, end, chunks);
    const std::uint32_t next = occurrence[chunks - 1] + last_length;
    const std::uint32_t limit = occurrence[0] + options_.max_span;
    to = make_room(to, chunks + 1);
    if (!gap) {
      if (next < limit && source[next] == word) {
        for (std::uint32_t i = 0; i < chunks; ++i) *to++ = occurrence[i];
      }
      continue;
    }
    if (next >= limit || source[next] == kSeparator) continue;
    scan(source, next + 1, std::min(limit, size), word, [&](std::uint32_t found) {
      for (std::uint32_t i = 0; i < chunks; ++i) *to++ = occurrence[i];
      *to++ = found;
    });
  }
  return to;
}

const std::uint32_t* PatternMatcher::extend_left(const Matches& suffix, std::uint32_t last_length, bool gap,
                                                 std::uint32_t word) {
  const std::uint32_t *source = index_.source.data, chunks = suffix.chunks;
  const std::uint32_t *occurrence = suffix.positions, *end = suffix.positions + suffix.count * chunks;
  std::uint32_t* to = found_.data();
  for (; occurrence != end; occurrence += chunks) {
    prefetch(source, occurrence, end, chunks);
    std::uint32_t next = occurrence[0];
    const std::uint32_t last = occurrence[chunks - 1] + last_length;
    const std::uint32_t limit = last > options_.max_span ? last - options_.max_span : 0;
    to = make_room(to, chunks + 1);
    if (!gap) {
      if (next > limit && source[next - 1] == word) {
        *to++ = next - 1;
        for (std::uint32_t i = 1; i < chunks; ++i) *to++ = occurrence[i];
      }
      continue;
    }
    if (next <= limit || source[--next] == kSeparator) continue;
    while (next > limit) {
      const std::uint32_t found = source[--next];
      if (found == kSeparator) break;
      if (found != word) continue;
      *to++ = next;
      for (std::uint32_t i = 0; i < chunks; ++i) *to++ = occurrence[i];
    }
  }
  return to;
}

}  // namespace itersel
