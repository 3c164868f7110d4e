// The lexical weights of rules with one source side: −log10 of the best p(f|e) for each source word, and of the best
// p(e|f) for each target word, summed; NULL competes. What a target word adds is looked up once for all rules.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "grammar/lexical_table.hh"

namespace itersel {

class LexicalWeights {
 public:
  explicit LexicalWeights(const BitextIndex& index) : slot_of_(index.target_total.size), stamp_(slot_of_.size(), 0) {}

  void start(const std::vector<std::uint32_t>& source_words, const LexicalTable& table) {
    source_ = source_words;
    source_.push_back(kNullWord);
    table_ = &table;
    slots_.clear();
    links_.clear();
    ++generation_;
  }

  // Of the rule with these target words.
  void weigh(const std::vector<std::uint32_t>& target_words, double& source_given_target, double& target_given_source) {
    const std::size_t size = source_.size() - 1;
    best_.assign(links_of(kNullWord), links_of(kNullWord) + size);
    target_given_source = 0;
    for (std::uint32_t word : target_words) {
      const Link* links = links_of(word);
      target_given_source += slots_[slot_of_[word]];
      for (std::size_t i = 0; i < size; ++i) {
        if (links[i].probability > best_[i].probability) best_[i] = links[i];
      }
    }
    source_given_target = 0;
    for (const Link& link : best_) source_given_target += link.cost;
  }

 private:
  static constexpr double kNoLexicalEntry = 99;  // −log10 of the probability of words never linked
  struct Link {
    double probability, cost;  // p(f|e)
  };

  static double cost(double probability) { return probability > 0 ? -std::log10(probability) : kNoLexicalEntry; }

  // The target word's links to the source words. Pointers stay valid until the next new word.
  const Link* links_of(std::uint32_t word) {
    const std::size_t size = source_.size() - 1;
    if (stamp_[word] != generation_) {
      stamp_[word] = generation_;
      slot_of_[word] = static_cast<std::uint32_t>(slots_.size());
      double best = 0;
      for (std::size_t i = 0; i <= size; ++i) {
        const double count = table_->count(source_[i], word);
        const double forward = count == 0 ? 0 : count / table_->target_total(word);
        if (count != 0) best = std::max(best, count / table_->source_total(source_[i]));
        if (i < size) links_.push_back({forward, cost(forward)});
      }
      slots_.push_back(cost(best));
    }
    return links_.data() + std::size_t{slot_of_[word]} * size;
  }

  std::vector<std::uint32_t> source_;  // with NULL as the last
  const LexicalTable* table_ = nullptr;
  std::uint32_t generation_ = 0;
  std::vector<std::uint32_t> slot_of_, stamp_;  // by target word
  std::vector<double> slots_;                   // −log10 of the best p(e|f)
  std::vector<Link> links_, best_;
};

}  // namespace itersel
