// What a learner is made of: chooser × step × rate × penalty, each chosen on its own.
#pragma once

#include <memory>

#include "learn/chooser.hh"

namespace itersel {

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
  double l1;  // ℓ1 clipping; 0: no penalty
  // Online (the papers): the next pair sees the weights the last one left. Batch (dtrain): all pairs of a list are
  // ranked with the weights it was decoded with, and their x̄ are added up before the one update.
  bool batch;
  // Keep track of the mean of the weights over the lists (Freund & Schapire 1999), for Learner::average.
  bool average;
  PairOptions pairs;
};

}  // namespace itersel
