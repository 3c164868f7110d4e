#include "grammar/occurrence_rules.hh"

#include <algorithm>
#include <utility>

namespace itersel {

void OccurrenceRules::start(const PhrasePattern& pattern) {
  symbols_ = static_cast<std::uint32_t>(pattern.size());
  chunks_ = 1;
  std::fill(length_, length_ + kMaxChunks, 0);
  for (char32_t symbol : pattern) symbol == kGap ? ++chunks_ : ++length_[chunks_ - 1];
}

// The smallest span that holds all links of these words; empty (low > high) if there are none.
OccurrenceRules::Span OccurrenceRules::project(const LinkSpan* spans, Span words) {
  std::uint16_t low = UINT16_MAX, high = 0;
  for (int i = words.low; i < words.high; ++i) {
    low = std::min(low, spans[i].low);
    high = std::max(high, spans[i].high);
  }
  return {low, high};
}

bool OccurrenceRules::phrase_pair(Span source, Span& target) const {
  if (options_.tight && !(aligned(source.low) && aligned(source.high - 1))) return false;
  target = project(source_span_, source);
  const int size = target.high - target.low;
  if (size <= 0 || size > static_cast<int>(options_.max_span)) return false;
  const Span back = project(target_span_, target);
  return back.low >= source.low && back.high <= source.high;
}

bool OccurrenceRules::find_inner_gaps(const std::uint32_t* positions) {
  bool any_aligned = false;
  for (std::uint32_t i = 0; i < chunks_; ++i) {
    chunk_[i] = static_cast<int>(positions[i] - source_begin_);
    for (std::uint32_t j = 0; j < length_[i] && !any_aligned; ++j) any_aligned = aligned(chunk_[i] + j);
  }
  if (!any_aligned) return false;
  for (std::uint32_t i = 0; i + 1 < chunks_; ++i) {
    inner_[i].source = {chunk_[i] + static_cast<int>(length_[i]), chunk_[i + 1]};
    if (!phrase_pair(inner_[i].source, inner_[i].target)) return false;
  }
  return true;
}

// Occurrences lie anywhere in the index. Looking up a batch of them step by step lets the processor fetch the memory of
// all at the same time, instead of waiting for one after the other.
void OccurrenceRules::locate(const std::uint32_t* positions, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t position = positions[i * chunks_];
    pairs_[i].sentence = index_.sentence[position];
    __builtin_prefetch(&index_.source_span[position]);
    __builtin_prefetch(&index_.link_start[position]);
  }
  for (std::size_t i = 0; i < count; ++i) {
    Pair& pair = pairs_[i];
    const std::uint32_t* source = &index_.source_start[pair.sentence];
    const std::uint32_t* target = &index_.target_start[pair.sentence];
    pair = {pair.sentence, source[0], source[1], target[0], target[1]};
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t position = positions[i * chunks_];
    const LinkSpan span = index_.source_span[position];
    const std::uint32_t target = pairs_[i].target_begin + (span.aligned() ? span.low : 0);
    __builtin_prefetch(&index_.target_span[target]);
    __builtin_prefetch(&index_.target[target]);
    __builtin_prefetch(&index_.links[index_.link_start[position]]);
  }
}

void OccurrenceRules::read(const Pair& pair, const std::uint32_t* positions) {
  size_ = used_ = 0;
  sentence_ = pair.sentence;
  source_begin_ = pair.source_begin;
  target_begin_ = pair.target_begin;
  source_size_ = static_cast<int>(pair.source_end - source_begin_) - 1;
  target_size_ = static_cast<int>(pair.target_end - target_begin_);
  source_span_ = index_.source_span.data + source_begin_;
  target_span_ = index_.target_span.data + target_begin_;
  if (!find_inner_gaps(positions)) return;

  const Span pattern = {chunk_[0], chunk_[chunks_ - 1] + static_cast<int>(length_[chunks_ - 1])};
  const Span target = project(source_span_, pattern);
  if (target.high - target.low > static_cast<int>(options_.max_span)) return;
  const Span back = project(target_span_, target);
  links_ = index_.link_start[source_begin_ + pattern.high] - index_.link_start[source_begin_ + pattern.low];
  for (Around around : {Around::kLeft, Around::kBoth, Around::kNone, Around::kRight}) {
    extend(around, pattern, target, back);
  }
}

void OccurrenceRules::extend(Around around, Span pattern, Span target, Span back) {
  const bool left = on_left(around), right = on_right(around);
  const std::uint32_t added = static_cast<std::uint32_t>(left) + static_cast<std::uint32_t>(right);
  if (chunks_ - 1 + added > options_.max_nonterminals || symbols_ + added > options_.max_symbols) return;
  if ((!left && back.low < pattern.low) || (!right && back.high > pattern.high)) return;
  if (options_.tight && ((!left && !aligned(pattern.low)) || (!right && !aligned(pattern.high - 1)))) return;
  Span source = pattern;
  if (left) {
    // A gap needs a link: begin with the nearest aligned word, which tight phrases want to be the very next.
    int word = pattern.low - 1;
    while (word >= 0 && !aligned(word) && !options_.tight) --word;
    if (word < 0 || !aligned(word)) return;
    source.low = word;
  }
  if (right) {
    int word = pattern.high;
    while (word < source_size_ && !aligned(word) && !options_.tight) ++word;
    if (word >= source_size_ || !aligned(word)) return;
    source.high = word + 1;
  }
  if (added > 0 && !close(pattern, left, right, source, target)) return;

  gaps_.clear();
  const auto add_gap = [&](Span words) {
    Gap gap = {words, {0, 0}, 0};
    if (!phrase_pair(words, gap.target)) return false;
    gaps_.push_back(gap);
    return true;
  };
  if (left && !add_gap({source.low, pattern.low})) return;
  gaps_.insert(gaps_.end(), inner_, inner_ + chunks_ - 1);
  if (right && !add_gap({pattern.high, source.high})) return;
  for (std::size_t i = 0; i < gaps_.size(); ++i) gaps_[i].number = static_cast<std::uint32_t>(i + 1);
  if (gaps_.size() == 2 && gaps_[1].target.low < gaps_[0].target.low) std::swap(gaps_[0], gaps_[1]);
  if (options_.tight) {
    emit(around, target);
  } else {
    emit_loose(around, target);
  }
}

// Grows `source` and `target` until no link leaves them; false if that is impossible on the allowed sides.
bool OccurrenceRules::close(Span pattern, bool left, bool right, Span& source, Span& target) const {
  const int limit = static_cast<int>(options_.max_span);
  Span done = pattern;  // the source words whose links `target` covers already
  while (true) {
    if (source.high - source.low > limit) return false;
    for (Span part : {Span{source.low, done.low}, Span{done.high, source.high}}) {
      const Span links = project(source_span_, part);
      if (links.high == 0) continue;
      target = {std::min(target.low, links.low), std::max(target.high, links.high)};
    }
    if (target.high - target.low > limit) return false;
    done = source;
    const Span back = project(target_span_, target);
    if (back.low >= source.low && back.high <= source.high) return true;
    if ((back.low < source.low && !left) || (back.high > source.high && !right)) return false;
    source = {std::min(source.low, back.low), std::max(source.high, back.high)};
  }
}

void OccurrenceRules::emit(Around around, Span target) {
  if (size_ == rules_.size()) rules_.emplace_back();
  const std::size_t room = used_ + static_cast<std::size_t>(target.high - target.low) + links_;
  if (pool_.size() < room) pool_.resize(2 * room);
  OccurrenceRule& rule = rules_[size_++];
  rule.around = around;
  rule.begin = static_cast<std::uint32_t>(used_);
  std::uint32_t *const symbols = pool_.data() + used_, *symbol_end = symbols;
  std::uint16_t place[UINT8_MAX + 1];  // of target words among the symbols; max_span is at most 255
  const std::uint32_t* words = index_.target.data + target_begin_;
  int word = target.low;
  for (std::size_t i = 0; i <= gaps_.size(); ++i) {
    const int stop = i < gaps_.size() ? gaps_[i].target.low : target.high;
    for (; word < stop; ++word) {
      place[word - target.low] = static_cast<std::uint16_t>(symbol_end - symbols);
      *symbol_end++ = words[word];
    }
    if (i < gaps_.size()) {
      *symbol_end++ = target_nonterminal(gaps_[i].number);
      word = gaps_[i].target.high;
    }
  }
  std::uint32_t* link_end = symbol_end;
  std::uint32_t symbol = on_left(around) ? 1 : 0;
  for (std::uint32_t i = 0; i < chunks_; ++i, ++symbol) {
    const std::uint32_t* start = index_.link_start.data + source_begin_ + chunk_[i];
    for (std::uint32_t j = 0; j < length_[i]; ++j, ++symbol) {
      for (std::uint32_t k = start[j]; k < start[j + 1]; ++k)
        *link_end++ = rule_link(symbol, place[index_.links[k] - target.low]);
    }
  }
  rule.symbols_size = static_cast<std::uint16_t>(symbol_end - symbols);
  rule.links_size = static_cast<std::uint16_t>(link_end - symbol_end);
  used_ = static_cast<std::size_t>(link_end - pool_.data());
}

// Every choice of unaligned words around the target phrase and around its gaps.
void OccurrenceRules::emit_loose(Around around, Span target) {
  const int limit = static_cast<int>(options_.max_span);
  first_ = size_;
  for (int low = target.low;; --low) {
    for (int high = target.high; high - low <= limit; ++high) {
      loosen_gap(around, {low, high}, 0);
      if (high >= target_size_ || target_span_[high].aligned()) break;
    }
    if (low == 0 || target_span_[low - 1].aligned() || target.high - low >= limit) break;
  }
  drop_repeated();
}

void OccurrenceRules::loosen_gap(Around around, Span target, std::size_t next) {
  if (next == gaps_.size()) {
    emit(around, target);
    return;
  }
  const Span tight = gaps_[next].target;
  const int first = next == 0 ? target.low : gaps_[next - 1].target.high;
  const int last = next + 1 == gaps_.size() ? target.high : gaps_[next + 1].target.low;
  for (int low = tight.low; low >= first; --low) {
    for (int high = tight.high; high <= last; ++high) {
      gaps_[next].target = {low, high};
      loosen_gap(around, target, next + 1);
      if (high == last || target_span_[high].aligned()) break;
    }
    if (low == first || target_span_[low - 1].aligned()) break;
  }
  gaps_[next].target = tight;
}

// Different choices can spell the same rule: one occurrence supports it once, with the smallest links.
void OccurrenceRules::drop_repeated() {
  const auto begin = rules_.begin() + static_cast<std::ptrdiff_t>(first_);
  const auto end = rules_.begin() + static_cast<std::ptrdiff_t>(size_);
  const auto order = [&](const OccurrenceRule& a, const OccurrenceRule& b) {
    return compare_words(symbols(a), a.symbols_size, symbols(b), b.symbols_size);
  };
  std::sort(begin, end, [&](const OccurrenceRule& a, const OccurrenceRule& b) {
    const int by_symbols = order(a, b);
    return by_symbols != 0 ? by_symbols < 0 : compare_words(links(a), a.links_size, links(b), b.links_size) < 0;
  });
  const auto kept =
      std::unique(begin, end, [&](const OccurrenceRule& a, const OccurrenceRule& b) { return order(a, b) == 0; });
  size_ = static_cast<std::size_t>(kept - rules_.begin());
}

}  // namespace itersel
