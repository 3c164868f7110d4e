// What a mapper runs on each k-best list: pairwise ranking updates of a dense weight vector (ACL 2012 §4, WMT 2013 §3).
//
// For a pair with x̄ = x(better) − x(worse):
//   perceptron         w ← w + η x̄ if ⟨w, x̄⟩ ≤ 0
//   margin perceptron  w ← w + η x̄ if ⟨w, x̄⟩ < margin
// ⟨w, x̄⟩ is defined as the sum over x̄'s non-zeros, ascending by feature, so that features a pair shares cannot decide
// a tie by rounding.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "learn/pairs.hh"
#include "model/kbest_list.hh"

namespace itersel {

enum class UpdateRule { kPerceptron, kMarginPerceptron };
// η for the t-th list, t = 1, 2, …: η, η / t, η / √t. AdaGrad (Duchi et al. 2011; Green et al. 2013): per feature,
// η / (√G + 10⁻⁶), where G sums the squares of the feature's Σ x̄ over the lists so far, this one included; batch only.
enum class Schedule { kConstant, kInverse, kInverseSqrt, kAdaGrad };

// By name, "perceptron", "margin_perceptron"; "constant", "inverse", "inverse_sqrt", "adagrad". Else an InputError that
// lists them.
UpdateRule update_rule_of_name(const std::string& name);
Schedule schedule_of_name(const std::string& name);

struct LearnOptions {
  UpdateRule rule = UpdateRule::kPerceptron;
  double margin = 1;    // of the margin perceptron
  double eta = 0.0001;  // learning rate
  Schedule schedule = Schedule::kConstant;
  // ℓ1 with clipping: after each list, every weight that an update touched moves towards 0 by lambda and stops at 0.
  double lambda = 0;
  // Online (the papers): the next pair sees the weights the last one left. Batch (dtrain): all pairs of a list are
  // ranked with the weights it was decoded with, and their x̄ are added up before the one update.
  bool batch = false;
  // Keep account of the mean of the weights over the lists (Freund & Schapire 1999), for Learner::average.
  bool average = false;
  PairOptions pairs;
};

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

class Learner {
 public:
  // Reads and updates `weights`, indexed by feature; the vector must outlive the learner and may grow between lists.
  // `lists_before` continues a schedule.
  Learner(std::vector<double>* weights, const LearnOptions& options, std::uint64_t lists_before = 0);

  // One list. `values` are its metric values; `sentence` names the list for sampled pairs.
  void learn(const KBestList& list, const std::vector<double>& values, std::uint64_t sentence = 0);
  // The same with pairs that were made before; options.pairs has no effect.
  void learn(const KBestList& list, const std::vector<double>& values, const std::vector<Pair>& pairs);

  const LearnStatistics& statistics() const { return statistics_; }
  // The features the last list's updates touched, ascending.
  const std::vector<std::uint32_t>& changed() const { return changed_; }
  std::uint64_t count_nonzero() const;
  // The mean, over the lists learned from, of the weights after each; needs options.average and at least one list.
  std::vector<double> average() const;

 private:
  // Inside a list, features are numbered 0 … ascending, without those that have the same value in all hypotheses: they
  // are in no x̄.
  struct Row {
    std::size_t begin, end;         // in entries_
    double score = 0;               // ⟨w, x⟩ over the row
    double magnitude = 0;           // Σ |w_f x_f|
    std::uint64_t version = ~0ull;  // of the weights that score belongs to
  };
  struct Column {
    std::uint32_t feature, count;
    double value;
    bool varies;
  };

  void compact(const KBestList& list);
  void score(Row* row) const;
  double difference_score(const Pair& pair);
  void subtract(const Pair& pair);
  void finish(double eta);

  std::vector<double>* weights_;
  LearnOptions options_;
  std::uint64_t lists_seen_;
  // Per feature, for the average: the sum of its weight over the first summed_ lists.
  std::vector<double> sums_;
  std::vector<std::uint64_t> summed_;
  std::vector<double> squares_;  // per feature, AdaGrad's G
  LearnStatistics statistics_;
  std::vector<std::uint32_t> changed_;

  // Scratch, kept to spare allocations.
  std::vector<Pair> pairs_;
  std::vector<std::uint32_t> column_of_;  // per feature, valid if stamps_ says so
  std::vector<std::uint64_t> stamps_;     // per feature: the list that last had it
  std::uint64_t stamp_ = 0;
  std::vector<Column> columns_;
  std::vector<std::uint32_t> features_;  // of the numbered features
  std::vector<double> local_, sum_;      // their weights; batch: Σ x̄
  std::vector<char> touched_;
  std::vector<FeatureValue> entries_;     // all rows, by number instead of feature
  std::vector<FeatureValue> difference_;  // x̄ of the pair at hand
  std::vector<Row> rows_;
  std::uint64_t version_ = 0;
};

}  // namespace itersel
