// Lazy k-best derivations of a hypergraph (Huang & Chiang 2005, algorithm 3), optionally one per target string.
//
// For unique strings each vertex keeps only the best derivation of each yield: two derivations of one vertex with the
// same words can be exchanged for each other in any larger one, so nothing that belongs in the list is lost.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_set>
#include <vector>

#include "decode/hypergraph.hh"
#include "decode/yield.hh"
#include "grammar/problem.hh"
#include "model/kbest_list.hh"

namespace itersel {

class KBestExtractor {
 public:
  // Up to k derivations of the goal, best first (ties in order of discovery).
  void extract(const Hypergraph& graph, const Problem& problem, std::uint32_t k, bool unique, KBestList& list);

  // The tree of the list's hypothesis with that rank, root first; for what `extract` was last called with.
  std::vector<DerivationNode> derivation(std::uint32_t rank);

  // Target words of the best derivation alone.
  static void best_words(const Hypergraph& graph, const Problem& problem, std::vector<std::uint32_t>& words);

 private:
  struct Candidate {
    double score;
    std::uint32_t edge, order;
    std::uint32_t ranks[2];
    bool operator<(const Candidate& other) const {
      return score != other.score ? score < other.score : order > other.order;
    }
  };
  struct Derivation {
    Candidate from;
    Yield yield;
  };
  struct VertexState {
    std::uint32_t vertex;
    std::vector<Derivation> best;
    std::vector<Candidate> heap;      // of edges other than the best one from the second derivation on
    std::vector<std::uint64_t> seen;  // hashes of yields, searched in order while they are few
    std::unordered_set<std::uint64_t> seen_many;
    Candidate pending{};  // popped last; its successors are not in the heap yet
    std::uint32_t order = 0;
    bool has_pending = false, exhausted = false, has_heap = false;
  };
  struct Frame {  // an edge of a derivation, read up to `at`
    const Symbol *at, *end;
    std::uint32_t tails[2], ranks[2];
  };
  struct Request {
    std::uint32_t vertex, rank;
  };

  VertexState& touch(std::uint32_t vertex) { return place_[vertex] ? *place_[vertex] : first_touch(vertex); }
  VertexState& first_touch(std::uint32_t vertex);
  void make_heap(VertexState& state) const;
  bool missing(std::uint32_t vertex, std::uint32_t rank);
  void ensure(std::uint32_t vertex, std::uint32_t rank);
  bool push_successors(VertexState& state);
  Yield yield_of(const Candidate& candidate);
  static bool insert_yield(VertexState& state, std::uint64_t hash);
  void read_off(std::uint32_t rank, Hypothesis& hypothesis);

  const Hypergraph* graph_ = nullptr;
  const Problem* problem_ = nullptr;
  bool unique_ = false;
  std::vector<VertexState*> place_;  // by vertex; null before it is touched
  std::deque<VertexState> states_;   // kept for the next sentence: their memory is reused
  std::size_t used_ = 0;
  std::vector<Request> stack_;
  std::vector<Frame> frames_;
  std::vector<double> values_;  // by feature, zero between hypotheses
  std::vector<std::uint32_t> touched_features_;
};

}  // namespace itersel
