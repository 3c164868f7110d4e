#include "tune/forest.hh"

#include <algorithm>

namespace itersel {

void ForestEnvelope::start(const Hypergraph& graph, const Problem& problem) {
  graph_ = &graph;
  problem_ = &problem;
  mark_reachable();
}

// A vertex is found after its tails, so the order of the numbers is bottom-up.
void ForestEnvelope::mark_reachable() {
  std::vector<bool> reachable(graph_->vertices.size(), false);
  reachable[graph_->goal] = true;
  vertices_.clear();
  for (std::uint32_t vertex = static_cast<std::uint32_t>(reachable.size()); vertex-- > 0;) {
    if (!reachable[vertex]) continue;
    vertices_.push_back(vertex);
    for (std::uint32_t at = graph_->vertices[vertex].last_edge; at != kNoEdge; at = graph_->edges[at].previous)
      for (std::uint32_t tail = 0; tail < graph_->edges[at].arity; ++tail)
        reachable[graph_->edges[at].tails[tail]] = true;
  }
  std::reverse(vertices_.begin(), vertices_.end());
}

ForestEnvelope::OwnLine ForestEnvelope::own_line(const Edge& edge, const double* origin, const double* direction) {
  const ModelFeatures& features = problem_->features;
  OwnLine own{0, 0};
  if (edge.rule != kNoRule) {
    OwnLine& rule_line = rules_[edge.rule];
    if (!known_[edge.rule]) {
      const ScoredRule& scored = graph_->rules[edge.rule];
      const RuleTable& table = problem_->table_of(scored.extra);
      const Rule& rule = table.rules[scored.rule];
      auto score = [&](const double* weights) {
        double sum = rule_score(table, rule, weights) + weights[features.word_penalty] * kWordPenalty * scored.words;
        if (problem_->lm_words) sum += weights[features.unknown_words] * scored.unknown;
        return sum;
      };
      rule_line = {score(origin), score(direction)};
      known_[edge.rule] = true;
    }
    own = rule_line;
  }
  if (problem_->lm_words) {
    own.intercept += origin[features.language_model] * edge.lm_score;
    own.slope += direction[features.language_model] * edge.lm_score;
  }
  return own;
}

// Visits the pairs of the tails' lines that are the highest at the same place, from −∞ to ∞.
template <class Visit>
void ForestEnvelope::combine(const Edge& edge, Visit visit) const {
  if (edge.arity == 0) return visit(kNoEdge, kNoEdge);
  const Range first = ranges_[edge.tails[0]];
  if (edge.arity == 1) {
    for (std::uint32_t at = first.begin; at < first.end; ++at) visit(at, kNoEdge);
    return;
  }
  const Range second = ranges_[edge.tails[1]];
  std::uint32_t left = first.begin, right = second.begin;
  visit(left, right);
  while (left + 1 < first.end || right + 1 < second.end) {
    const bool left_ends = left + 1 == first.end, right_ends = right + 1 == second.end;
    const double left_next = left_ends ? 0 : lines_[left + 1].begin,
                 right_next = right_ends ? 0 : lines_[right + 1].begin;
    const bool step_left = right_ends || (!left_ends && left_next <= right_next);
    const bool step_right = left_ends || (!right_ends && right_next <= left_next);
    left += step_left;
    right += step_right;
    visit(left, right);
  }
}

const std::vector<Segment>& ForestEnvelope::build(const double* origin, const double* direction) {
  lines_.clear();
  ranges_.assign(graph_->vertices.size(), {0, 0});
  rules_.resize(graph_->rules.size());
  known_.assign(graph_->rules.size(), false);
  std::vector<std::uint32_t> edges;
  for (const std::uint32_t vertex : vertices_) {
    envelope_.clear();
    candidates_.clear();
    edges.clear();
    for (std::uint32_t at = graph_->vertices[vertex].last_edge; at != kNoEdge; at = graph_->edges[at].previous)
      edges.push_back(at);
    std::reverse(edges.begin(), edges.end());  // of equal lines, the edge found first
    for (const std::uint32_t at : edges) {
      const Edge& edge = graph_->edges[at];
      const OwnLine own = own_line(edge, origin, direction);
      combine(edge, [&](std::uint32_t left, std::uint32_t right) {
        double intercept = own.intercept, slope = own.slope;
        for (const std::uint32_t tail : {left, right}) {
          if (tail == kNoEdge) continue;
          intercept += lines_[tail].intercept;
          slope += lines_[tail].slope;
        }
        if (envelope_.add(intercept, slope, static_cast<std::uint32_t>(candidates_.size())))
          candidates_.push_back({0, 0, 0, at, {left, right}});
      });
    }
    const auto first = static_cast<std::uint32_t>(lines_.size());
    for (const Segment& segment : envelope_.segments()) {
      Line line = candidates_[segment.line];
      line.begin = segment.begin;
      line.intercept = segment.intercept;
      line.slope = segment.slope;
      lines_.push_back(line);
    }
    ranges_[vertex] = {first, static_cast<std::uint32_t>(lines_.size())};
  }
  goal_.clear();
  const Range goal = ranges_[graph_->goal];
  for (std::uint32_t at = goal.begin; at < goal.end; ++at)
    goal_.push_back({lines_[at].begin, lines_[at].intercept, lines_[at].slope, at});
  return goal_;
}

void ForestEnvelope::words(std::uint32_t line, std::vector<std::uint32_t>& words) const {
  struct Frame {
    const Symbol *at, *end;
    std::uint32_t tails[2];
  };
  static const Symbol kOnlyTail[] = {-1};
  std::vector<Frame> stack;
  auto enter = [&](std::uint32_t number) {
    const Line& entered = lines_[number];
    const Edge& edge = graph_->edges[entered.edge];
    Frame frame{kOnlyTail, kOnlyTail + 1, {entered.tails[0], entered.tails[1]}};
    if (edge.rule != kNoRule) {
      const ScoredRule& rule = graph_->rules[edge.rule];
      const RuleTable& table = problem_->table_of(rule.extra);
      frame.at = table.target(table.rules[rule.rule]);
      frame.end = frame.at + rule.length;
    }
    stack.push_back(frame);
  };
  words.clear();
  enter(line);
  while (!stack.empty()) {
    Frame& frame = stack.back();
    if (frame.at == frame.end) {
      stack.pop_back();
      continue;
    }
    const Symbol symbol = *frame.at++;
    if (symbol >= 0)
      words.push_back(static_cast<std::uint32_t>(symbol));
    else
      enter(frame.tails[-1 - symbol]);
  }
}

}  // namespace itersel
