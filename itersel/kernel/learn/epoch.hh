// One epoch over one shard, what a map task runs: for each sentence decode, list, score, choose pairs, update.
//
// Weights are dense by the shard's feature numbers inside, and sorted (feature hash, value) arrays outside. Features of
// the start weights that the shard does not know are carried through unchanged.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "decode/shard_decoder.hh"
#include "learn/feature_counts.hh"
#include "learn/learner.hh"
#include "lm/language_model.hh"
#include "metrics/background.hh"
#include "metrics/metrics.hh"
#include "shards/shard.hh"

namespace itersel {

// All fields must be given: Python has the defaults.
struct EpochOptions {
  SearchOptions search;
  std::uint32_t k;
  bool unique;  // one hypothesis for each target string
  Metric metric;
  LearnOptions learn;
  // Features that the model does not have: the learner never sees them, and their weight is 0. A name that ends with *
  // stands for all that begin so.
  std::vector<std::string> leave_out;
  // What the updates of features are multiplied by; of several names that fit, the first counts. Names as above.
  std::vector<std::pair<std::string, double>> rates;
  // Score lists in the context of the translations before (metrics/background.hh), with this decay; 0: on their own.
  double background;
  // A seeded order instead of the given one; the epoch's number (from 0) chooses the order and the sampled pairs.
  bool shuffle;
  std::uint64_t seed;
  std::uint64_t number;
  std::uint64_t lists_before;  // lists learned from before this call: continues a learning-rate schedule
};

// Hashes strictly ascending, values finite.
struct HashedWeights {
  std::vector<std::uint64_t> hashes;
  std::vector<double> values;
};

// Processor seconds of each stage.
struct StageSeconds {
  double decode = 0, kbest = 0, metric = 0, pairs = 0, update = 0;
};

struct EpochResult {
  HashedWeights weights;                 // without zeros
  std::optional<HashedWeights> average;  // over the sentences, likewise; only with learn.average
  HashedWeights account;                 // what AdaGrad has added up, with the features of the account at the start
  std::vector<std::uint32_t> features;   // the shard's features among them, ascending by hash
  LearnStatistics statistics;
  StageSeconds seconds;
};

// Sentences of a shard, by number, and the language model they are decoded with, which may be null.
struct EpochPart {
  std::shared_ptr<const LanguageModel> model;
  std::vector<std::uint32_t> sentences;
};

// An epoch one sentence at a time: who chooses the pairs may be outside the kernel, such as the feedback of a task.
class ShardEpoch {
 public:
  // `lists` is how many there will be, for the conditioned rate.
  ShardEpoch(std::shared_ptr<const Shard> shard, std::shared_ptr<const LanguageModel> model,
             const EpochOptions& options, const HashedWeights& start, std::size_t lists,
             const HashedWeights& account = {});
  // From now on with another model, or none.
  void use(std::shared_ptr<const LanguageModel> model) { decoder_.use(std::move(model)); }

  // The sentence's list, scored against its references.
  const ScoredList& decode(std::uint32_t sentence);
  // The last list's metric against these references, too; their words are separated by blanks. The list keeps its own.
  std::vector<double> score(const std::vector<std::string>& more_references);
  // A hypothesis of the last list.
  std::string text(std::uint32_t hypothesis) const;
  // Learns from pairs of the last list; without pairs the list only counts.
  void learn(const std::vector<Pair>& pairs);
  EpochResult finish() const;

  const Shard& shard() const { return decoder_.shard(); }
  const Learner& learner() const { return *learner_; }
  const ScoredList& list() const { return list_; }
  // What the last sentence was decoded with.
  const Problem& problem() const { return decoder_.problem(); }
  const StageSeconds& seconds() const { return seconds_; }

 private:
  [[noreturn]] void fail(const std::string& message) const;
  void score(const std::vector<std::string>& more_references, StatisticRows* statistics, std::vector<double>* scores);
  std::vector<std::uint32_t> words_of(const std::string& text);

  EpochOptions options_;
  HashedWeights start_, account_;
  ShardDecoder decoder_;
  std::vector<char> unseen_;                // features that are not shown to the learner
  std::unique_ptr<FeatureCounts> counts_;   // null unless the rate needs it
  std::vector<double> factors_;             // empty unless there are rates by feature
  std::unique_ptr<Background> background_;  // null if lists are scored on their own
  std::unique_ptr<Learner> learner_;
  StageSeconds seconds_;
  double listed_at_ = 0;
  std::uint32_t sentence_ = 0;
  ScoredList list_;
  std::unordered_map<std::string, std::uint32_t> ids_;  // of words in further references; filled when first needed
  std::vector<std::string> foreign_words_;              // those that the shard does not have, with the next ids
};

// Called after every sentence.
using EpochProgress = std::function<void(const Learner&)>;

// Learns from the parts, one after the other; each is ordered by itself. `account` is what AdaGrad has added up before.
// Anything that is not finite, a sentence without reference and a part without sentences are InputErrors. Neither
// models nor the callback may be changed meanwhile.
EpochResult run_epoch(std::shared_ptr<const Shard> shard, const std::vector<EpochPart>& parts,
                      const EpochOptions& options, const HashedWeights& start, const HashedWeights& account = {},
                      const EpochProgress& progress = {});

// The order in which an epoch takes that many sentences, by their place in the given list.
std::vector<std::uint32_t> epoch_order(std::uint32_t sentences, const EpochOptions& options);

}  // namespace itersel
