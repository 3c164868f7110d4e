// Decoding the sentences of a shard: weights by the shard's feature ids, which the caller may change in between.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "decode/workspace.hh"
#include "lm/language_model.hh"
#include "model/kbest_list.hh"
#include "shards/shard.hh"

namespace itersel {

// For one thread. The model may be null.
class ShardDecoder {
 public:
  ShardDecoder(std::shared_ptr<const Shard> shard, std::shared_ptr<const LanguageModel> model,
               const SearchOptions& options);
  // From now on with another model, or none.
  void use(std::shared_ptr<const LanguageModel> model);

  const Shard& shard() const { return *shard_; }
  std::vector<double> weights;  // by feature id, zero at first

  // The best translation's words, or the k best derivations; an empty sentence gives one empty translation.
  void translate(std::uint32_t sentence, std::vector<std::uint32_t>& words);
  void kbest(std::uint32_t sentence, std::uint32_t k, bool unique, KBestList& list);

  // The tree of a hypothesis of the last list, which was of a sentence with words.
  std::vector<DerivationNode> derivation(std::uint32_t rank) { return workspace_->extractor.derivation(rank); }
  // A rule of such a tree in text form; empty for the sentence's borders.
  std::string rule_text(const DerivationNode& node) const;

  // The two halves of kbest: build the hypergraph (false for an empty sentence), and read the list off the last one.
  bool search(std::uint32_t sentence);
  void extract(std::uint32_t k, bool unique, KBestList& list);

  // What the last search of a sentence with words worked on, and what it found.
  const Problem& problem() const { return problem_; }
  const Hypergraph& graph() const { return workspace_->graph; }

 private:
  std::shared_ptr<const Shard> shard_;
  SearchOptions options_;
  std::shared_ptr<const LanguageModel> model_;
  std::unique_ptr<Workspace> workspace_;
  std::vector<std::uint32_t> lm_words_;
  SentenceRules rules_;
  SourceIndex index_;
  Problem problem_;
};

}  // namespace itersel
