// Choosers: which pairs of hypotheses of a list a learner compares.
//
// A chooser of a new kind is a file with a function make_<kind>_chooser, declared here, and a line in chooser.cc's
// table.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lists/scored_list.hh"

namespace itersel {

struct Pair {
  std::uint32_t better, worse;  // indices into the list
};

// What a chooser may look at.
struct Choice {
  const ScoredList& list;
  const std::vector<double>& weights;  // of the model, by feature, before it learns from the list
  std::uint64_t key;                   // names the list among those that share a seed
};

class Chooser {
 public:
  virtual ~Chooser() = default;
  // Fills `pairs` in the order in which they are learned from. Metric values must be finite (InputError).
  void choose(const Choice& choice, std::vector<Pair>* pairs) const;

 private:
  // The list has at least two hypotheses, all values are finite, and `pairs` is empty.
  virtual void fill(const Choice& choice, std::vector<Pair>* pairs) const = 0;
};

struct PairOptions;
using ChooserMaker = std::unique_ptr<Chooser> (*)(const PairOptions& options);

// All fields must be given: Python has the defaults.
struct PairOptions {
  ChooserMaker kind;
  double share;  // multipartite: share of the list in HI, and the same in LOW
  bool dtrain;   // multipartite: as dtrain does it, with its mistake
  std::uint32_t samples;
  double threshold;
  std::uint32_t keep;
  std::uint64_t seed;
};

// "multipartite", "all", "pro", "hope_fear" or "none"; anything else is an InputError that lists them.
ChooserMaker chooser_of_name(const std::string& name);
// An option out of range is an InputError.
std::unique_ptr<Chooser> make_chooser(const PairOptions& options);

std::unique_ptr<Chooser> make_multipartite_chooser(const PairOptions& options);
std::unique_ptr<Chooser> make_all_chooser(const PairOptions& options);
std::unique_ptr<Chooser> make_pro_chooser(const PairOptions& options);
std::unique_ptr<Chooser> make_hope_fear_chooser(const PairOptions& options);
std::unique_ptr<Chooser> make_none_chooser(const PairOptions& options);

}  // namespace itersel
