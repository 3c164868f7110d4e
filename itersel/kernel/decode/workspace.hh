// One thread's memory for decoding: search, hypergraph and k-best extraction, reused from sentence to sentence.
#pragma once

#include <memory>

#include "decode/hypergraph.hh"
#include "decode/kbest.hh"
#include "decode/search_options.hh"
#include "grammar/problem.hh"
#include "lm/language_model.hh"

namespace itersel {

class Workspace {
 public:
  virtual ~Workspace() = default;

  // Builds the hypergraph. `lm_weight` is the weight of the language model's log10 probability.
  virtual void search(const Problem& problem, double lm_weight) = 0;

  Hypergraph graph;
  KBestExtractor extractor;

  // For a language model, or without one (null). The model must live as long as the workspace.
  static std::unique_ptr<Workspace> make(const LanguageModel* model, const SearchOptions& options);
};

}  // namespace itersel
