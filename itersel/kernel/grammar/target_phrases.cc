#include "grammar/target_phrases.hh"

#include <algorithm>

#include "grammar/suffix_array.hh"

namespace itersel {

TargetPhrases::TargetPhrases(const BitextIndex& index, const ExtractOptions& options)
    : max_span_(options.max_span),
      matcher_(indexed_, options, options.cache_bytes / 4),
      by_fold_(options.cache_bytes / 16) {
  for (std::uint32_t sentence = 0; sentence < index.sentences(); ++sentence) {
    text_.insert(text_.end(), index.target.data + index.target_start[sentence],
                 index.target.data + index.target_start[sentence + 1]);
    text_.push_back(kSeparator);
    sentence_.resize(text_.size(), sentence);
    start_.push_back(static_cast<std::uint32_t>(text_.size()));
  }
  const auto words = static_cast<std::uint32_t>(index.target_total.size);
  suffixes_ = suffix_array(text_, words);
  bucket_.assign(words + 1, 0);
  for (std::uint32_t word : text_) ++bucket_[word + 1];
  for (std::uint32_t word = 0; word < words; ++word) bucket_[word + 1] += bucket_[word];
  indexed_.source = {text_.data(), text_.size()};
  indexed_.suffixes = {suffixes_.data(), suffixes_.size()};
  indexed_.bucket = {bucket_.data(), bucket_.size()};
  indexed_.sentence = {sentence_.data(), sentence_.size()};
  indexed_.source_start = {start_.data(), start_.size()};
}

std::uint32_t TargetPhrases::count(const std::uint32_t* symbols, std::size_t size, const SentenceFilter& filter) {
  pattern_.clear();
  bool gap = false;
  for (std::size_t i = 0; i < size; ++i) {
    if (symbols[i] < kFirstWord) {
      gap = true;
      continue;
    }
    if (gap && !pattern_.empty()) pattern_.push_back(kGap);
    gap = false;
    pattern_.push_back(symbols[i]);
  }
  if (filter.modulus == 0 || filter.modulus == SentenceFilter::kOneSentence) {
    const auto all = static_cast<std::uint32_t>(matcher_.find(pattern_)->count);
    if (filter.modulus == 0) return all;
    std::uint32_t own = 0;
    const std::uint32_t begin = start_[filter.remainder], end = start_[filter.remainder + 1] - 1;
    for (std::uint32_t at = begin; at < end; ++at) {
      if (text_[at] == pattern_[0]) own += count_in(1, at + 1, std::min(end, at + max_span_), false);
    }
    return all - own;
  }
  PhrasePattern key = pattern_;
  key.push_back(kGap);  // no pattern ends like this
  key.push_back(filter.modulus);
  key.push_back(filter.remainder);
  if (const auto known = by_fold_.get(key)) return *known;
  const MatchesPointer matches = matcher_.find(pattern_);
  std::uint32_t allowed = 0;
  for (std::size_t i = 0; i < matches->count; ++i) {
    allowed += sentence_[matches->positions[i * matches->chunks]] % filter.modulus != filter.remainder ? 1 : 0;
  }
  by_fold_.put(key, std::make_shared<const std::uint32_t>(allowed), sizeof allowed);
  return allowed;
}

// In how many ways the pattern goes on from its symbol `at` with the words from `begin` on, up to `limit`.
std::uint32_t TargetPhrases::count_in(std::size_t at, std::uint32_t begin, std::uint32_t limit, bool gap) const {
  if (at == pattern_.size()) return 1;
  if (pattern_[at] == kGap) return count_in(at + 1, begin + 1, limit, true);
  std::uint32_t ways = 0;
  for (std::uint32_t word = begin; word < limit; ++word) {
    if (text_[word] == pattern_[at]) ways += count_in(at + 1, word + 1, limit, false);
    if (!gap) break;
  }
  return ways;
}

}  // namespace itersel
