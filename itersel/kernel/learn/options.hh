// What a learner is made of: chooser × step × rate × penalty, each chosen on its own.
#pragma once

#include <memory>
#include <vector>

#include "learn/chooser.hh"

namespace itersel {

class FeatureCounts;
class Step;
class Rate;
struct LearnOptions;
using StepMaker = std::unique_ptr<Step> (*)(const LearnOptions& options);
using RateMaker = std::unique_ptr<Rate> (*)(const LearnOptions& options);

// All fields must be given: Python has the defaults.
struct LearnOptions {
  StepMaker rule;
  double margin;  // of the margin perceptron
  double eta;     // learning rate
  RateMaker schedule;
  double l1;          // ℓ1 clipping; 0: none
  double l2;          // ℓ2 in the loss of a list; 0: none
  double cost_scale;  // of the soft ramp: a hypothesis costs this times (1 − metric)
  // Online (the papers): the next pair sees the weights the last one left. Batch (dtrain): all pairs of a list are
  // ranked with the weights it was decoded with, and their x̄ are added up before the one update.
  bool batch;
  // Keep track of the mean of the weights over the lists (Freund & Schapire 1999), for Learner::average.
  bool average;
  PairOptions pairs;
  // What the conditioned rate divides by; an epoch over a shard sets it.
  const FeatureCounts* counts = nullptr;
  // By feature, what its updates are multiplied by; null: 1 for all. Batch only.
  const std::vector<double>* factors = nullptr;
  // By feature, the squares that AdaGrad has added up before; null: none.
  const std::vector<double>* account = nullptr;
};

}  // namespace itersel
