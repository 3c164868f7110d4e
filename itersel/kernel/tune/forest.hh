// Upper envelopes of all derivations of a hypergraph (Macherey et al. 2008, Kumar et al. 2009).
//
// A vertex's envelope is the upper envelope of its edges' lines; an edge's lines are the sums of its tails' lines that
// are highest at the same place, plus its own. What the search pruned is not part of it.
#pragma once

#include <cstdint>
#include <vector>

#include "decode/hypergraph.hh"
#include "grammar/problem.hh"
#include "tune/envelope.hh"

namespace itersel {

// For one thread and one sentence at a time; memory is reused.
class ForestEnvelope {
 public:
  // The graph and the problem must live as long as they are asked about.
  void start(const Hypergraph& graph, const Problem& problem);

  // The goal's segments along origin + x · direction, both by feature id; they stay valid until the next call.
  const std::vector<Segment>& build(const double* origin, const double* direction);

  // The target words of a segment's derivation, by Segment::line of the last `build`.
  void words(std::uint32_t line, std::vector<std::uint32_t>& words) const;

 private:
  struct Line {
    double begin, intercept, slope;
    std::uint32_t edge;
    std::uint32_t tails[2];  // lines of the tails
  };
  struct OwnLine {
    double intercept, slope;
  };

  void mark_reachable();
  OwnLine own_line(const Edge& edge, const double* origin, const double* direction);
  template <class Visit>
  void combine(const Edge& edge, Visit visit) const;

  const Hypergraph* graph_ = nullptr;
  const Problem* problem_ = nullptr;
  std::vector<std::uint32_t> vertices_;  // those below the goal, tails first
  std::vector<Range> ranges_;            // by vertex: its lines
  std::vector<Line> lines_;
  std::vector<OwnLine> rules_;  // by rule
  std::vector<bool> known_;     // which of them are computed
  UpperEnvelope envelope_;
  std::vector<Line> candidates_;
  std::vector<Segment> goal_;
};

}  // namespace itersel
