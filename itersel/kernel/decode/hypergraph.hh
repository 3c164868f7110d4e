// The result of a search: vertices (span, label, language model state) with the edges that derive them.
#pragma once

#include <cstdint>
#include <vector>

#include "grammar/rules.hh"

namespace itersel {

constexpr std::uint32_t kNoRule = 0xFFFFFFFFu, kNoEdge = 0xFFFFFFFFu;

// A rule as the search uses it, scored once per sentence.
struct ScoredRule {
  double score;           // ⟨w, f⟩ with word penalty and unknown words, without the language model
  double estimate;        // score plus what the language model says of the rule's words alone: the cube's order
  std::uint32_t rule;     // id in the problem's table, or in its extra table
  std::uint32_t symbols;  // first of the target symbols, words as language model indices
  std::uint32_t state;    // the cube pruner's: language model state, or the rule's words around its non-terminals
  float lm_score;         // of the words alone; exact if there is no non-terminal
  std::uint16_t length;   // target symbols
  std::uint16_t words;    // target words
  std::uint16_t unknown;  // target words the language model does not know
  bool extra;             // glue or pass-through
  bool begins;            // the sentence begins with it: the language model reads <s> first
};

struct Edge {
  double score;  // with the best derivations of the tails
  std::uint32_t tails[2];
  std::uint32_t rule;  // into Hypergraph::rules, or kNoRule for the goal edge
  float lm_score;      // what the language model adds at this edge
  std::uint32_t arity;
  std::uint32_t previous;  // the edge of the same vertex found before this one, or kNoEdge
};

struct Vertex {
  double score;
  std::uint32_t best_edge;  // the first found among equals
  std::uint32_t last_edge;  // all edges: this one and, through `previous`, those found before
};

struct Hypergraph {
  std::vector<Edge> edges;
  std::vector<Vertex> vertices;
  std::vector<ScoredRule> rules;
  std::uint32_t goal = 0;

  void clear() {
    edges.clear();
    vertices.clear();
    rules.clear();
  }
};

}  // namespace itersel
