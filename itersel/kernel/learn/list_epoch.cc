#include "learn/list_epoch.hh"

#include <cmath>
#include <string>

#include "base/error.hh"
#include "base/random.hh"

namespace itersel {

RankedFirst learn_lists(const ListTable& table, const std::vector<std::uint32_t>& lists, std::uint64_t epoch,
                        const PairOptions& pairs, Learner& learner) {
  PairOptions options = pairs;
  options.seed = random_bits(pairs.seed, epoch);
  const std::unique_ptr<Chooser> chooser = make_chooser(options);
  RankedFirst sums;
  ScoredList list;
  std::vector<Pair> chosen;
  for (const std::uint32_t number : lists) {
    if (number >= table.size()) throw InputError("", "there is no list " + std::to_string(number + 1));
    table.read(number, list);
    const ListTable::Best first = ListTable::best(list, learner.weights());
    sums.metric += first.metric;
    sums.score += first.score;
    chooser->choose({list, learner.weights(), table.key(number)}, &chosen);
    learner.learn(list, chosen);
    for (const std::uint32_t feature : learner.changed())
      if (!std::isfinite(learner.weights()[feature]))
        throw InputError(
            "", "at list " + std::to_string(number + 1) + " a weight became infinite; use a smaller learning rate");
  }
  return sums;
}

}  // namespace itersel
