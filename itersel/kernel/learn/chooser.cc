#include "learn/chooser.hh"

#include <cmath>

#include "base/error.hh"
#include "base/named.hh"

namespace itersel {

void Chooser::choose(const Choice& choice, std::vector<Pair>* pairs) const {
  pairs->clear();
  for (const double value : choice.list.metric)
    if (!std::isfinite(value)) throw InputError("", "a metric value is not a finite number: pairs cannot be ranked");
  if (choice.list.metric.size() >= 2) fill(choice, pairs);
}

ChooserMaker chooser_of_name(const std::string& name) {
  static const std::vector<Named<ChooserMaker>> table = {
      {"multipartite", make_multipartite_chooser}, {"all", make_all_chooser},   {"pro", make_pro_chooser},
      {"hope_fear", make_hope_fear_chooser},       {"none", make_none_chooser},
  };
  return find_named("kind of pairs", table, name);
}

std::unique_ptr<Chooser> make_chooser(const PairOptions& options) { return options.kind(options); }

}  // namespace itersel
