#include "learn/epoch.hh"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include "base/error.hh"
#include "base/hash.hh"
#include "base/random.hh"
#include "base/text.hh"
#include "learn/rate.hh"
#include "model/feature_pattern.hh"

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

// The factor of each feature; none if all are 1.
std::vector<double> factors_of(const Shard& shard, const EpochOptions& options) {
  const StringTable& features = shard.lexicon().features;
  std::vector<double> factors;
  if (options.rates.empty()) return factors;
  factors.assign(features.size(), 1);
  for (std::uint32_t id = 0; id < features.size(); ++id)
    for (const auto& [wanted, factor] : options.rates)
      if (matches(features[id], wanted)) {
        factors[id] = factor;
        break;
      }
  return factors;
}

// Marks the features that the model must not have; a start weight for one of them is an error.
std::vector<char> left_out(const Shard& shard, const EpochOptions& options, const std::vector<double>& start) {
  const StringTable& features = shard.lexicon().features;
  std::vector<char> marks;
  if (options.leave_out.empty()) return marks;
  marks.resize(features.size());
  for (std::uint32_t id = 0; id < features.size(); ++id) {
    if (!matches_any(features[id], options.leave_out)) continue;
    if (start[id] != 0)
      throw InputError(
          "", "the feature '" + std::string(features[id]) + "' is to be left out, but there is a start weight for it");
    marks[id] = 1;
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

// Learns from the sentences of a part.
void learn_part(const std::vector<std::uint32_t>& sentences, const EpochOptions& options, ShardEpoch& epoch,
                const EpochProgress& progress) {
  PairOptions pair_options = options.learn.pairs;
  pair_options.seed = random_bits(pair_options.seed, options.number);
  const std::unique_ptr<Chooser> chooser = make_chooser(pair_options);
  std::vector<Pair> pairs;
  for (const std::uint32_t place : epoch_order(static_cast<std::uint32_t>(sentences.size()), options)) {
    const std::uint32_t sentence = sentences[place];
    const ScoredList& list = epoch.decode(sentence);
    chooser->choose({list, epoch.learner().weights(), feature_hash(epoch.shard().id(sentence))}, &pairs);
    epoch.learn(pairs);
    if (progress) progress(epoch.learner());
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

ShardEpoch::ShardEpoch(std::shared_ptr<const Shard> shard, std::shared_ptr<const LanguageModel> model,
                       const EpochOptions& options, const HashedWeights& start, std::size_t lists,
                       const HashedWeights& account)
    : options_(options), start_(start), account_(account), decoder_(shard, std::move(model), options.search) {
  check_start(start_);
  if (shard->size() == 0) throw InputError("", "the shard has no sentences");
  if (options.k < 2) throw InputError("", "k is " + std::to_string(options.k) + "; pairs need at least 2 hypotheses");
  spread(*shard, start_, decoder_.weights);
  unseen_ = left_out(*shard, options, decoder_.weights);
  if (options_.learn.schedule == make_conditioned_rate) {
    counts_ = std::make_unique<FeatureCounts>(shard->lexicon(), static_cast<double>(lists));
    options_.learn.counts = counts_.get();
  }
  factors_ = factors_of(*shard, options);
  if (!factors_.empty()) options_.learn.factors = &factors_;
  std::vector<double> squares;
  if (!account_.hashes.empty()) {
    squares.resize(decoder_.weights.size());
    spread(*shard, account_, squares);
    options_.learn.account = &squares;
  }
  learner_ = std::make_unique<Learner>(&decoder_.weights, options_.learn, options.lists_before);
  options_.learn.account = nullptr;  // the learner has its own now
  if (options.background != 0) background_ = std::make_unique<Background>(options.metric, options.background);
}

void ShardEpoch::fail(const std::string& message) const {
  throw InputError("", "sentence " + std::string(shard().id(sentence_)) + ": " + message);
}

const ScoredList& ShardEpoch::decode(std::uint32_t sentence) {
  if (sentence >= shard().size())
    throw InputError(
        "", "there is no sentence " + std::to_string(sentence) + ": the shard has " + std::to_string(shard().size()));
  sentence_ = sentence;
  StopWatch watch;
  decoder_.search(sentence);
  if (counts_) counts_->read(decoder_.problem());
  watch.lap(seconds_.decode);
  decoder_.extract(options_.k, options_.unique, list_.hypotheses);
  drop_features(unseen_, list_.hypotheses);
  watch.lap(seconds_.kbest);
  if (!list_.hypotheses.empty() && !std::isfinite(list_.hypotheses[0].score))
    fail("the best translation's score is not a finite number");
  score({}, &list_.statistics, &list_.metric);
  if (background_) background_->rescore(list_.statistics, &list_.metric);
  watch.lap(seconds_.metric);
  listed_at_ = thread_seconds();
  return list_;
}

std::vector<double> ShardEpoch::score(const std::vector<std::string>& more_references) {
  StatisticRows statistics;
  std::vector<double> scores;
  score(more_references, &statistics, &scores);
  return scores;
}

void ShardEpoch::score(const std::vector<std::string>& more_references, StatisticRows* statistics,
                       std::vector<double>* scores) {
  std::vector<std::vector<std::uint32_t>> references = shard().references(sentence_);
  for (const std::string& text : more_references) references.push_back(words_of(text));
  if (references.empty()) fail("it has no reference to learn from");
  const StringTable& words = shard().lexicon().words;
  SentenceMetric metric(options_.metric, std::move(references), [&](std::uint32_t id) {
    return id < words.size() ? words[id] : std::string_view(foreign_words_[id - words.size()]);
  });
  metric.score(list_.hypotheses, statistics, scores);
}

std::vector<std::uint32_t> ShardEpoch::words_of(const std::string& text) {
  const StringTable& words = shard().lexicon().words;
  if (ids_.empty())
    for (std::uint32_t id = 0; id < words.size(); ++id) ids_.emplace(words[id], id);
  std::vector<std::uint32_t> made;
  for (const std::string_view word : split_words(text)) {
    auto found = ids_.find(std::string(word));
    if (found == ids_.end()) {
      found = ids_.emplace(word, static_cast<std::uint32_t>(words.size() + foreign_words_.size())).first;
      foreign_words_.emplace_back(word);
    }
    made.push_back(found->second);
  }
  return made;
}

std::string ShardEpoch::text(std::uint32_t hypothesis) const {
  const std::vector<std::uint32_t>& words = list_.hypotheses.at(hypothesis).words;
  return shard().text(words.data(), words.size());
}

void ShardEpoch::learn(const std::vector<Pair>& pairs) {
  const double chosen_at = thread_seconds();
  seconds_.pairs += chosen_at - listed_at_;
  learner_->learn(list_, pairs);
  for (const std::uint32_t feature : learner_->changed())
    if (!std::isfinite(decoder_.weights[feature]))
      fail("the weight of " + quoted(shard(), feature) + " became infinite; use a smaller learning rate");
  seconds_.update += thread_seconds() - chosen_at;
}

EpochResult ShardEpoch::finish() const {
  EpochResult result;
  result.weights = collect(shard(), start_, decoder_.weights);
  std::vector<double> average;
  if (options_.learn.average) {
    average = learner_->average();
    result.average = collect(shard(), start_, average);
  }
  std::vector<double> squares = learner_->account();
  squares.resize(decoder_.weights.size());
  result.account = collect(shard(), account_, squares);
  for (const FeatureId& id : shard().feature_ids())
    if (decoder_.weights[id.feature] != 0 || (result.average && average[id.feature] != 0))
      result.features.push_back(id.feature);
  result.statistics = learner_->statistics();
  result.seconds = seconds_;
  return result;
}

EpochResult run_epoch(std::shared_ptr<const Shard> shard, const std::vector<EpochPart>& parts,
                      const EpochOptions& options, const HashedWeights& start, const HashedWeights& account,
                      const EpochProgress& progress) {
  if (shard->size() == 0) throw InputError("", "the shard has no sentences");
  if (parts.empty()) throw InputError("", "there are no sentences to learn from");
  std::size_t lists = 0;
  for (const EpochPart& part : parts) {
    check_part(*shard, part);
    lists += part.sentences.size();
  }
  ShardEpoch epoch(shard, parts[0].model, options, start, lists, account);
  for (const EpochPart& part : parts) {
    if (&part != &parts[0]) epoch.use(part.model);
    learn_part(part.sentences, options, epoch, progress);
  }
  return epoch.finish();
}

}  // namespace itersel
