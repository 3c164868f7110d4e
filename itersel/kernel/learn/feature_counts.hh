// How often the rules of a shard were extracted: what an identity feature can be conditioned by before it is known in
// how many lists it is (NAACL 2013 §6.1).
#pragma once

#include <cstdint>
#include <vector>

#include "grammar/problem.hh"
#include "grammar/rules.hh"

namespace itersel {

class FeatureCounts {
 public:
  // A lexicon without the rule value CountEF is an InputError. Features that are no rule's identity count `others`.
  FeatureCounts(const Lexicon& lexicon, double others);

  // Takes over the counts of a sentence's rules. A rule that has several, by fold or without one pair, has the largest.
  void read(const Problem& problem);
  // At least 1; a rule that was not read yet, or that was not extracted, counts 1.
  double operator[](std::uint32_t feature) const { return counts_[feature]; }

 private:
  std::uint32_t count_feature_ = 0;
  std::vector<char> is_identity_;
  std::vector<double> counts_;
};

}  // namespace itersel
