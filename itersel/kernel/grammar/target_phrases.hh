// How often the target sides of rules occur in the target text, for p(f|e). The target text is indexed in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/generation_cache.hh"
#include "grammar/bitext_index.hh"
#include "grammar/extract_options.hh"
#include "grammar/pattern_matcher.hh"

namespace itersel {

class TargetPhrases {
 public:
  TargetPhrases(const BitextIndex& index, const ExtractOptions& options);

  // Occurrences, in sentences that the filter allows, of the target symbols from the first word to the last, within
  // max_span words. A non-terminal, or two side by side, stands for one or more words.
  std::uint32_t count(const std::uint32_t* symbols, std::size_t size, const SentenceFilter& filter);

 private:
  std::uint32_t count_in(std::size_t at, std::uint32_t begin, std::uint32_t limit, bool gap) const;

  const std::uint32_t max_span_;
  std::vector<std::uint32_t> text_, suffixes_, bucket_, sentence_, start_{0};
  IndexedText indexed_;
  PatternMatcher matcher_;
  GenerationCache<PhrasePattern, std::shared_ptr<const std::uint32_t>> by_fold_;
  PhrasePattern pattern_;
};

}  // namespace itersel
