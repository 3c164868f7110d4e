#include "tune/gradient.hh"

#include <cmath>
#include <string_view>
#include <utility>

#include "base/error.hh"
#include "learn/feature_counts.hh"

namespace itersel {

GradientSums::GradientSums(std::vector<char> wanted, double cost_scale, double score_scale)
    : gradient(wanted.size()),
      lists(wanted.size()),
      largest(wanted.size()),
      largest_list(wanted.size()),
      wanted_(std::move(wanted)),
      ramp_(cost_scale),
      score_scale_(score_scale),
      place_(wanted_.size()),
      stamps_(wanted_.size()) {}

void GradientSums::add(const ScoredList& list) {
  scores_.clear();
  for (const Hypothesis& hypothesis : list.hypotheses) scores_.push_back(score_scale_ * hypothesis.score);
  statistics.loss += ramp_.loss(list, scores_);
  statistics.hypotheses += list.hypotheses.size();
  ++statistics.lists;
  sums_.clear();
  for (std::size_t i = 0; i < list.hypotheses.size(); ++i) {
    const double share = ramp_.shares()[i];
    for (const FeatureValue& x : list.hypotheses[i].features) {
      if (x.feature >= wanted_.size()) throw InputError("", "a hypothesis has an unknown feature");
      if (!wanted_[x.feature]) continue;
      if (stamps_[x.feature] != statistics.lists) {
        stamps_[x.feature] = statistics.lists;
        place_[x.feature] = static_cast<std::uint32_t>(sums_.size());
        sums_.push_back({x.feature, 1, x.value, share * x.value, false});
        continue;
      }
      Sum& sum = sums_[place_[x.feature]];
      ++sum.count;
      sum.sum += share * x.value;
      sum.varies = sum.varies || sum.value != x.value;
    }
  }
  for (const Sum& sum : sums_) {
    lists[sum.feature] += 1;
    if (!sum.varies && sum.count == list.hypotheses.size()) continue;
    gradient[sum.feature] += sum.sum;
    if (std::fabs(sum.sum) <= std::fabs(largest[sum.feature])) continue;
    largest[sum.feature] = sum.sum;
    largest_list[sum.feature] = static_cast<std::uint32_t>(statistics.lists - 1);
  }
}

ShardGradient shard_gradient(std::shared_ptr<const Shard> shard, const std::vector<EpochPart>& parts,
                             const EpochOptions& epoch, const GradientOptions& options, const HashedWeights& start,
                             const GradientProgress& progress) {
  if (parts.empty()) throw InputError("", "there are no sentences to take a gradient of");
  const StringTable& names = shard->lexicon().features;
  std::vector<char> wanted(names.size());
  for (std::uint32_t id = 0; id < names.size(); ++id)
    for (const std::string_view prefix : options.prefixes)
      if (names[id].substr(0, prefix.size()) == prefix) wanted[id] = 1;
  GradientSums sums(std::move(wanted), options.cost_scale, options.score_scale);
  std::unique_ptr<FeatureCounts> counts;
  if (options.extraction_counts) counts = std::make_unique<FeatureCounts>(shard->lexicon(), 1);

  ShardEpoch decoding(shard, parts[0].model, epoch, start, shard->size());
  for (const EpochPart& part : parts) {
    if (&part != &parts[0]) decoding.use(part.model);
    for (const std::uint32_t sentence : part.sentences) {
      sums.add(decoding.decode(sentence));
      if (counts) counts->read(decoding.problem());
      if (progress) progress(sums.statistics);
    }
  }

  ShardGradient made;
  for (const FeatureId& id : shard->feature_ids()) {
    if (sums.lists[id.feature] == 0) continue;
    made.features.push_back(id.feature);
    made.hashes.push_back(id.hash);
    made.gradient.push_back(sums.gradient[id.feature]);
    made.lists.push_back(sums.lists[id.feature]);
    made.extracted.push_back(counts ? (*counts)[id.feature] : 1);
    made.largest.push_back(sums.largest[id.feature]);
    made.largest_list.push_back(sums.largest_list[id.feature]);
  }
  made.statistics = sums.statistics;
  made.seconds = decoding.seconds();
  return made;
}

}  // namespace itersel
