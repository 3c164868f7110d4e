// What decoding hands to learning: a k-best list with sparse feature vectors.
#pragma once

#include <cstdint>
#include <vector>

namespace itersel {

struct FeatureValue {
  std::uint32_t feature;  // index into the shard's or sentence's feature table
  double value;
};

struct Hypothesis {
  std::vector<std::uint32_t> words;    // target word ids of the lexicon
  std::vector<FeatureValue> features;  // ascending by feature, no duplicates, no zeros
  double score = 0;                    // ⟨w, features⟩
};

// One edge of a derivation and what it adds to the features; ⟨w, features⟩ of all nodes is the derivation's score.
struct DerivationNode {
  std::uint32_t rule = 0;  // of the problem's table or extra table; kNoRule where the goal meets the sentence's borders
  bool extra = false;
  std::vector<FeatureValue> features;   // in the rule's order, then the decoder's own
  std::vector<std::uint32_t> children;  // nodes below, in the order of the source non-terminals
};

// Best model score first; ties in the decoder's (deterministic) order.
using KBestList = std::vector<Hypothesis>;

}  // namespace itersel
