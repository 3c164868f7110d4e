#include "learn/epoch.hh"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include "base/error.hh"
#include "base/hash.hh"
#include "base/random.hh"

namespace itersel {
namespace {

double thread_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Adds up the time between calls.
class StopWatch {
 public:
  void lap(double& stage) {
    const double now = thread_seconds();
    stage += now - last_;
    last_ = now;
  }

 private:
  double last_ = thread_seconds();
};

void check_start(const HashedWeights& start) {
  if (start.hashes.size() != start.values.size()) throw InputError("", "start weights: not as many hashes as values");
  for (std::size_t i = 0; i < start.hashes.size(); ++i) {
    if (i > 0 && start.hashes[i - 1] >= start.hashes[i])
      throw InputError("", "start weights: the feature hashes do not ascend");
    if (!std::isfinite(start.values[i])) throw InputError("", "start weights: a value is not a finite number");
  }
}

std::string quoted(const Shard& shard, std::uint32_t feature) {
  return "'" + std::string(shard.lexicon().features[feature]) + "'";
}

// Hashed weights become dense ones by the shard's feature numbers; and back, below. Both sides are sorted by hash.
void spread(const Shard& shard, const HashedWeights& start, std::vector<double>& dense) {
  std::size_t at = 0;
  for (const FeatureId& id : shard.feature_ids()) {
    while (at < start.hashes.size() && start.hashes[at] < id.hash) ++at;
    if (at < start.hashes.size() && start.hashes[at] == id.hash) dense[id.feature] = start.values[at];
  }
}

HashedWeights collect(const Shard& shard, const HashedWeights& start, const std::vector<double>& dense) {
  HashedWeights made;
  std::size_t at = 0;
  auto add = [&](std::uint64_t hash, double value) {
    if (value == 0) return;
    made.hashes.push_back(hash);
    made.values.push_back(value);
  };
  for (const FeatureId& id : shard.feature_ids()) {
    for (; at < start.hashes.size() && start.hashes[at] < id.hash; ++at) add(start.hashes[at], start.values[at]);
    if (at < start.hashes.size() && start.hashes[at] == id.hash) ++at;
    add(id.hash, dense[id.feature]);
  }
  for (; at < start.hashes.size(); ++at) add(start.hashes[at], start.values[at]);
  return made;
}

// Marks the features that the model must not have; a start weight for one of them is an error.
std::vector<char> left_out(const Shard& shard, const EpochOptions& options, const std::vector<double>& start) {
  const StringTable& features = shard.lexicon().features;
  std::vector<char> marks;
  if (options.leave_out.empty()) return marks;
  marks.resize(features.size());
  for (std::uint32_t id = 0; id < features.size(); ++id) {
    const std::string_view name = features[id];
    for (const std::string_view wanted : options.leave_out) {
      const std::size_t stem = wanted.size() - (wanted.back() == '*');
      if (name.substr(0, stem) != wanted.substr(0, stem) || (stem == wanted.size() && name.size() != stem)) continue;
      if (start[id] != 0)
        throw InputError(
            "", "the feature '" + std::string(name) + "' is to be left out, but there is a start weight for it");
      marks[id] = 1;
    }
  }
  return marks;
}

void drop_features(const std::vector<char>& marks, KBestList& list) {
  if (marks.empty()) return;
  for (Hypothesis& hypothesis : list) {
    auto& features = hypothesis.features;
    const auto dropped = [&](const FeatureValue& x) { return marks[x.feature] != 0; };
    features.erase(std::remove_if(features.begin(), features.end(), dropped), features.end());
  }
}

void check_part(const Shard& shard, const EpochPart& part) {
  if (part.sentences.empty()) throw InputError("", "there are no sentences to learn from");
  for (const std::uint32_t sentence : part.sentences)
    if (sentence >= shard.size())
      throw InputError(
          "", "there is no sentence " + std::to_string(sentence) + ": the shard has " + std::to_string(shard.size()));
}

// Decodes, scores and learns from the sentences; features marked in `unseen` are not shown to the learner.
void learn_part(const std::vector<std::uint32_t>& sentences, const EpochOptions& options,
                const std::vector<char>& unseen, ShardDecoder& decoder, Learner& learner, StageSeconds& seconds,
                const EpochProgress& progress) {
  const Shard& shard = decoder.shard();
  const StringTable& words = shard.lexicon().words;
  PairOptions pair_options = options.learn.pairs;
  pair_options.seed = random_bits(pair_options.seed, options.number);
  const std::unique_ptr<Chooser> chooser = make_chooser(pair_options);
  ScoredList list;
  std::vector<Pair> pairs;
  for (const std::uint32_t place : epoch_order(static_cast<std::uint32_t>(sentences.size()), options)) {
    const std::uint32_t sentence = sentences[place];
    const auto fail = [&](const std::string& message) {
      throw InputError("", "sentence " + std::string(shard.id(sentence)) + ": " + message);
    };
    std::vector<std::vector<std::uint32_t>> references = shard.references(sentence);
    if (references.empty()) fail("it has no reference to learn from");
    StopWatch watch;
    decoder.search(sentence);
    watch.lap(seconds.decode);
    decoder.extract(options.k, options.unique, list.hypotheses);
    drop_features(unseen, list.hypotheses);
    watch.lap(seconds.kbest);
    if (!list.hypotheses.empty() && !std::isfinite(list.hypotheses[0].score))
      fail("the best translation's score is not a finite number");
    SentenceMetric metric(options.metric, std::move(references), [&](std::uint32_t id) { return words[id]; });
    metric.score(list.hypotheses, &list.statistics, &list.metric);
    watch.lap(seconds.metric);
    chooser->choose({list, decoder.weights, feature_hash(shard.id(sentence))}, &pairs);
    watch.lap(seconds.pairs);
    learner.learn(list, pairs);
    for (const std::uint32_t feature : learner.changed())
      if (!std::isfinite(decoder.weights[feature]))
        fail("the weight of " + quoted(shard, feature) + " became infinite; use a smaller learning rate");
    watch.lap(seconds.update);
    if (progress) progress(learner);
  }
}

}  // namespace

std::vector<std::uint32_t> epoch_order(std::uint32_t sentences, const EpochOptions& options) {
  std::vector<std::uint32_t> order(sentences);
  std::iota(order.begin(), order.end(), 0u);
  if (!options.shuffle) return order;
  const std::uint64_t seed = random_bits(options.seed, options.number);
  for (std::uint32_t left = sentences; left > 1; --left)
    std::swap(order[left - 1], order[random_below(seed, left, left)]);
  return order;
}

EpochResult run_epoch(std::shared_ptr<const Shard> shard, const std::vector<EpochPart>& parts,
                      const EpochOptions& options, const HashedWeights& start, const EpochProgress& progress) {
  check_start(start);
  if (shard->size() == 0) throw InputError("", "the shard has no sentences");
  if (parts.empty()) throw InputError("", "there are no sentences to learn from");
  for (const EpochPart& part : parts) check_part(*shard, part);
  if (options.k < 2) throw InputError("", "k is " + std::to_string(options.k) + "; pairs need at least 2 hypotheses");

  ShardDecoder decoder(shard, parts[0].model, options.search);
  spread(*shard, start, decoder.weights);
  const std::vector<char> unseen = left_out(*shard, options, decoder.weights);
  Learner learner(&decoder.weights, options.learn, options.lists_before);

  EpochResult result;
  for (const EpochPart& part : parts) {
    if (&part != &parts[0]) decoder.use(part.model);
    learn_part(part.sentences, options, unseen, decoder, learner, result.seconds, progress);
  }
  result.weights = collect(*shard, start, decoder.weights);
  std::vector<double> average;
  if (options.learn.average) {
    average = learner.average();
    result.average = collect(*shard, start, average);
  }
  for (const FeatureId& id : shard->feature_ids())
    if (decoder.weights[id.feature] != 0 || (result.average && average[id.feature] != 0))
      result.features.push_back(id.feature);
  result.statistics = learner.statistics();
  return result;
}

}  // namespace itersel
