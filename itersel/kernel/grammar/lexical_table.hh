// How often words were linked in the bitext; on request without the links of one sentence pair.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "grammar/bitext_index.hh"

namespace itersel {

class LexicalTable {
 public:
  explicit LexicalTable(const BitextIndex& index) : index_(index) {}

  // From now on `count` and the totals lack this pair's links.
  void leave_out(std::uint32_t sentence) {
    for (Counts* counts : {&links_, &source_, &target_}) counts->clear();
    const std::uint32_t source = index_.source_start[sentence], target = index_.target_start[sentence];
    const std::uint32_t source_end = index_.source_start[sentence + 1] - 1;  // before the separator
    const std::uint32_t target_end = index_.target_start[sentence + 1];
    for (std::uint32_t at = source; at < source_end; ++at) {
      const std::uint32_t word = index_.source[at];
      if (!index_.source_span[at].aligned()) add(word, kNullWord);
      for (std::uint32_t k = index_.link_start[at]; k < index_.link_start[at + 1]; ++k)
        add(word, index_.target[target + index_.links[k]]);
    }
    for (std::uint32_t at = target; at < target_end; ++at)
      if (!index_.target_span[at].aligned()) add(kNullWord, index_.target[at]);
    for (Counts* counts : {&links_, &source_, &target_}) merge(*counts);
  }

  std::uint32_t count(std::uint32_t source, std::uint32_t target) const {
    const std::uint32_t all = index_.lexical_count(source, target);
    return all == 0 ? 0 : all - find(links_, key(source, target));
  }
  // Of a word's links, those to NULL included.
  std::uint32_t source_total(std::uint32_t word) const { return index_.source_total[word] - find(source_, word); }
  std::uint32_t target_total(std::uint32_t word) const { return index_.target_total[word] - find(target_, word); }

 private:
  using Counts = std::vector<std::pair<std::uint64_t, std::uint32_t>>;  // ascending by key

  static std::uint64_t key(std::uint32_t source, std::uint32_t target) { return std::uint64_t{source} << 32 | target; }

  void add(std::uint32_t source, std::uint32_t target) {
    links_.emplace_back(key(source, target), 1);
    source_.emplace_back(source, 1);
    target_.emplace_back(target, 1);
  }

  static void merge(Counts& counts) {
    std::sort(counts.begin(), counts.end());
    std::size_t size = 0;
    for (const auto& one : counts) {
      if (size > 0 && counts[size - 1].first == one.first)
        counts[size - 1].second += one.second;
      else
        counts[size++] = one;
    }
    counts.resize(size);
  }

  static std::uint32_t find(const Counts& counts, std::uint64_t key) {
    const auto found = std::lower_bound(counts.begin(), counts.end(), key,
                                        [](const auto& one, std::uint64_t sought) { return one.first < sought; });
    return found != counts.end() && found->first == key ? found->second : 0;
  }

  const BitextIndex& index_;
  Counts links_, source_, target_;  // of the pair that is left out
};

}  // namespace itersel
