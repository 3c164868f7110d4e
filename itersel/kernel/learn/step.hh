// Steps: how the pairs of a list change its weights (ACL 2012 §4, WMT 2013 §3).
//
// A step of a new kind is a file with a function make_<kind>_step, declared here, and a line in step.cc's table. One
// that decides by ⟨w, x̄⟩ alone takes its loop from pair_step.hh.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "learn/chooser.hh"
#include "learn/compact_list.hh"
#include "learn/options.hh"
#include "learn/statistics.hh"
#include "lists/scored_list.hh"

namespace itersel {

class Step {
 public:
  virtual ~Step() = default;
  // Learns from the pairs of `scored`, of which `list` is the compact form: online with rate `eta` into the list's
  // weights, or, in a batch, with rate 1 into its gradient. Counts rank_errors, margin_violations and updates.
  virtual void learn(const std::vector<Pair>& pairs, const ScoredList& scored, bool batch, double eta,
                     CompactList* list, LearnStatistics* statistics) const = 0;
};

// "perceptron", "margin_perceptron", "ramp", "passive_aggressive" or "soft_ramp"; anything else is an InputError that
// lists them.
StepMaker step_of_name(const std::string& name);

std::unique_ptr<Step> make_perceptron_step(const LearnOptions& options);
std::unique_ptr<Step> make_margin_perceptron_step(const LearnOptions& options);
std::unique_ptr<Step> make_ramp_step(const LearnOptions& options);
std::unique_ptr<Step> make_soft_ramp_step(const LearnOptions& options);
std::unique_ptr<Step> make_passive_aggressive_step(const LearnOptions& options);

}  // namespace itersel
