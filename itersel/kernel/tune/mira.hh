// Batch k-best MIRA (Cherry & Foster 2012): passes of hope/fear updates over lists, with BLEU in the context of what
// was chosen before.
//
//   hope = argmax ⟨w, f⟩ + b,  fear = argmax ⟨w, f⟩ − b,  b = BLEU(background + statistics) · reference length of both
//   w += min(C, (Δb − ⟨w, Δf⟩) / ‖Δf‖²) · Δf       if that loss is positive
//   background ← decay · background + statistics of hope
#pragma once

#include <cstdint>
#include <vector>

namespace itersel {

// Lists in rows: hypothesis i has features[starts[i] … starts[i + 1] − 1], ascending, and `values` beside them.
struct SparseLists {
  const std::int64_t* offsets;  // of the lists, in hypotheses
  std::uint64_t lists;
  const std::int64_t* starts;
  const std::uint32_t* features;
  const double* values;
  const float* statistics;  // BLEU's, in sacrebleu's order: h, r, m_1 … m_N, c_1 … c_N
  std::uint32_t order;      // N
};

struct MiraOptions {
  double c;      // the largest step
  double decay;  // what remains of the background per list
};

struct MiraStatistics {
  std::uint64_t lists = 0, updates = 0;
  double loss = 0;
};

// Weights by feature, with their average over all lists learned from so far.
class Mira {
 public:
  Mira(std::vector<double> weights, std::uint32_t order, const MiraOptions& options);

  // One pass over the lists in the given order.
  MiraStatistics run(const SparseLists& lists, const std::uint32_t* numbers, std::size_t count);

  const std::vector<double>& weights() const { return weights_; }
  std::vector<double> average() const;

 private:
  struct Choice {
    std::int64_t hope = 0, fear = 0;
    double hope_gain = 0, fear_gain = 0;  // their b
  };
  Choice choose(const SparseLists& lists, std::int64_t begin, std::int64_t end);
  void learn(const SparseLists& lists, const Choice& choice, MiraStatistics& statistics);

  MiraOptions options_;
  std::vector<double> weights_, weighted_;  // weighted_: Σ over updates of the list's number times the change
  std::vector<double> background_, sums_;
  double ticks_ = 0;
};

}  // namespace itersel
