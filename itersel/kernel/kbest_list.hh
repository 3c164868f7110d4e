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

// Best model score first; ties in the decoder's (deterministic) order.
using KBestList = std::vector<Hypothesis>;

}  // namespace itersel
