// Learning from compiled lists, as an epoch does from the sentences of a shard, without decoding.
#pragma once

#include <cstdint>
#include <vector>

#include "learn/learner.hh"
#include "lists/list_table.hh"

namespace itersel {

// Sums of the metric and the score of what the weights ranked first in each list, just before they learned from it.
struct RankedFirst {
  double metric = 0, score = 0;
};

// Learns from some lists of a table in the given order. `epoch` chooses the sampled pairs. A list that does not exist
// and a weight that becomes infinite are InputErrors.
RankedFirst learn_lists(const ListTable& table, const std::vector<std::uint32_t>& lists, std::uint64_t epoch,
                        const PairOptions& pairs, Learner& learner);

}  // namespace itersel
