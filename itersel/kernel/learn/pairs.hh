// Preference pairs from a k-best list's metric values: which hypothesis should be ranked above which.
//
// The list is first sorted by metric, best first; equal values keep the list's own order. A pair never joins equal
// values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace itersel {

struct Pair {
  std::uint32_t better, worse;  // indices into the list
};

enum class PairKind { kMultipartite, kAll, kPro };

// "multipartite", "all", "pro"; anything else is an InputError that lists them.
PairKind pair_kind_of_name(const std::string& name);

struct PairOptions {
  PairKind kind = PairKind::kMultipartite;
  // multipartite: share of the list in HI, and the same in LOW. Level size = share · n rounded half up, at least 1.
  double share = 0.1;
  // multipartite: dtrain's second loop, which runs over MID's mirror image and is empty unless ties extend LOW; see
  // multipartite_as_dtrain.
  bool dtrain = false;
  // pro: draws (Γ), smallest accepted difference, and number of pairs kept (Ξ).
  std::uint32_t samples = 5000;
  double threshold = 0.05;
  std::uint32_t keep = 50;
  std::uint64_t seed = 0;
};

// Fills `pairs`, in this order:
//   multipartite  for each of HI, best first: all of MID and LOW, best first; then for each of MID: all of LOW. Ties
//   extend
//                 HI downwards, then LOW upwards (never into HI).
//   all           for each hypothesis, best first: all worse ones, best first.
//   pro           largest difference first, equal ones in the order drawn. Γ draws of two hypotheses each, with
//                 replacement (Hopkins & May 2011, figure 3); a pair may be drawn and kept twice.
// `sentence` names the list among those that share a seed. Values must be finite (InputError).
void make_pairs(const std::vector<double>& values, const PairOptions& options, std::uint64_t sentence,
                std::vector<Pair>* pairs);

}  // namespace itersel
