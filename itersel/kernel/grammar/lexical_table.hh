// How often words were linked in the bitext; on request without the links of one sentence pair, or of a fold.
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
    each_link(sentence, [&](std::uint32_t source, std::uint32_t target) {
      links_.emplace_back(key(source, target), 1);
      source_.emplace_back(source, 1);
      target_.emplace_back(target, 1);
    });
    for (Counts* counts : {&links_, &source_, &target_}) merge(*counts);
  }

  // From now on they lack the links of all pairs whose number is `remainder` modulo `modulus`.
  void leave_out_fold(std::uint32_t modulus, std::uint32_t remainder) {
    fold_links_.assign(index_.lexical.size, 0);
    fold_source_.assign(index_.source_total.size, 0);
    fold_target_.assign(index_.target_total.size, 0);
    for (std::uint64_t sentence = remainder; sentence < index_.sentences(); sentence += modulus) {
      each_link(static_cast<std::uint32_t>(sentence), [&](std::uint32_t source, std::uint32_t target) {
        ++fold_links_[static_cast<std::size_t>(index_.find_lexical(source, target) - index_.lexical.data)];
        ++fold_source_[source];
        ++fold_target_[target];
      });
    }
  }

  std::uint32_t count(std::uint32_t source, std::uint32_t target) const {
    const LexicalCount* all = index_.find_lexical(source, target);
    if (all == nullptr) return 0;
    if (!fold_links_.empty()) return all->count - fold_links_[static_cast<std::size_t>(all - index_.lexical.data)];
    return all->count - find(links_, key(source, target));
  }
  // Of a word's links, those to NULL included.
  std::uint32_t source_total(std::uint32_t word) const {
    return index_.source_total[word] - (fold_source_.empty() ? find(source_, word) : fold_source_[word]);
  }
  std::uint32_t target_total(std::uint32_t word) const {
    return index_.target_total[word] - (fold_target_.empty() ? find(target_, word) : fold_target_[word]);
  }

  std::size_t bytes() const {
    return (fold_links_.size() + fold_source_.size() + fold_target_.size()) * sizeof(std::uint32_t);
  }

 private:
  using Counts = std::vector<std::pair<std::uint64_t, std::uint32_t>>;  // ascending by key

  static std::uint64_t key(std::uint32_t source, std::uint32_t target) { return std::uint64_t{source} << 32 | target; }

  // Calls found(source word, target word) for the links of a pair, those to NULL included.
  template <class Found>
  void each_link(std::uint32_t sentence, Found&& found) const {
    const std::uint32_t source = index_.source_start[sentence], target = index_.target_start[sentence];
    const std::uint32_t source_end = index_.source_start[sentence + 1] - 1;  // before the separator
    const std::uint32_t target_end = index_.target_start[sentence + 1];
    for (std::uint32_t at = source; at < source_end; ++at) {
      const std::uint32_t word = index_.source[at];
      if (!index_.source_span[at].aligned()) found(word, kNullWord);
      for (std::uint32_t k = index_.link_start[at]; k < index_.link_start[at + 1]; ++k)
        found(word, index_.target[target + index_.links[k]]);
    }
    for (std::uint32_t at = target; at < target_end; ++at)
      if (!index_.target_span[at].aligned()) found(kNullWord, index_.target[at]);
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
  // Of the fold that is left out, as the index has them: by entry of `lexical`, by source word, by target word.
  std::vector<std::uint32_t> fold_links_, fold_source_, fold_target_;
};

}  // namespace itersel
