// What a learner counts.
#pragma once

#include <cstdint>

namespace itersel {

// Sums over the lists seen.
struct LearnStatistics {
  std::uint64_t lists = 0;
  std::uint64_t hypotheses = 0;
  std::uint64_t features = 0;  // non-zeros of all hypotheses
  std::uint64_t pairs = 0;
  std::uint64_t rank_errors = 0;        // ⟨w, x̄⟩ ≤ 0
  std::uint64_t margin_violations = 0;  // 0 < ⟨w, x̄⟩ < margin, margin perceptron only
  std::uint64_t updates = 0;
  double best_metric = 0;  // metric of the lists' first hypotheses
  double best_score = 0;   // model score of the lists' first hypotheses, as decoded
};

}  // namespace itersel
