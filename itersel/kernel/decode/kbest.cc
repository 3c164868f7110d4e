#include "decode/kbest.hh"

#include <algorithm>

namespace itersel {
namespace {

constexpr std::size_t kFewYields = 64;

// Walks a derivation from left to right without recursion: the depth grows with the sentence's length.
// visit_edge(edge) before an edge's words, visit_word(word) in the order of the target string. The stack is scratch.
template <class Frame, class EdgeOf, class VisitEdge, class VisitWord>
void walk(const Hypergraph& graph, const Problem& problem, std::uint32_t goal, std::uint32_t goal_rank,
          std::vector<Frame>& stack, EdgeOf edge_of, VisitEdge visit_edge, VisitWord visit_word) {
  static const Symbol kOnlyTail[] = {-1};
  stack.clear();
  auto enter = [&](std::uint32_t vertex, std::uint32_t rank) {
    std::uint32_t ranks[2] = {0, 0};
    const Edge& edge = edge_of(vertex, rank, ranks);
    visit_edge(edge);
    Frame frame{kOnlyTail, kOnlyTail + 1, {edge.tails[0], edge.tails[1]}, {ranks[0], ranks[1]}};
    if (edge.rule != kNoRule) {
      const ScoredRule& rule = graph.rules[edge.rule];
      const RuleTable& table = problem.table_of(rule.extra);
      frame.at = table.target(table.rules[rule.rule]);
      frame.end = frame.at + rule.length;
    }
    stack.push_back(frame);
  };
  enter(goal, goal_rank);
  while (!stack.empty()) {
    Frame& frame = stack.back();
    if (frame.at == frame.end) {
      stack.pop_back();
      continue;
    }
    Symbol symbol = *frame.at++;
    if (symbol >= 0)
      visit_word(static_cast<std::uint32_t>(symbol));
    else
      enter(frame.tails[-1 - symbol], frame.ranks[-1 - symbol]);
  }
}

// A rule's own features with their values, in the rule's order.
template <class Count>
void count_features(const RuleTable& table, const Rule& rule, Count count) {
  const Range& schema = table.schema(rule);
  for (std::uint32_t at = schema.begin; at < schema.end; ++at)
    count(table.schema_features[at], table.values[rule.values + (at - schema.begin)]);
  for (std::uint32_t at = 0; at < rule.sparse_length; ++at) count(table.sparse[rule.sparse + at], 1);
}

}  // namespace

void KBestExtractor::best_words(const Hypergraph& graph, const Problem& problem, std::vector<std::uint32_t>& words) {
  words.clear();
  std::vector<Frame> stack;
  walk(
      graph, problem, graph.goal, 0, stack,
      [&](std::uint32_t vertex, std::uint32_t, std::uint32_t*) -> const Edge& {
        return graph.edges[graph.vertices[vertex].best_edge];
      },
      [](const Edge&) {}, [&](std::uint32_t word) { words.push_back(word); });
}

void KBestExtractor::extract(const Hypergraph& graph, const Problem& problem, std::uint32_t k, bool unique,
                             KBestList& list) {
  graph_ = &graph;
  problem_ = &problem;
  unique_ = unique;
  place_.assign(graph.vertices.size(), nullptr);
  used_ = 0;
  if (k > 0) ensure(graph.goal, k - 1);
  const std::size_t found = k > 0 ? std::min<std::size_t>(k, touch(graph.goal).best.size()) : 0;
  list.resize(found);  // the last list's memory is reused
  for (std::uint32_t rank = 0; rank < found; ++rank) read_off(rank, list[rank]);
}

KBestExtractor::VertexState& KBestExtractor::first_touch(std::uint32_t vertex) {
  if (used_ == states_.size()) states_.emplace_back();
  VertexState& state = states_[used_++];
  place_[vertex] = &state;
  state.vertex = vertex;
  state.best.clear();
  state.heap.clear();
  state.seen.clear();
  state.seen_many.clear();
  state.has_pending = state.exhausted = state.has_heap = false;
  state.order = static_cast<std::uint32_t>(graph_->edges.size());  // ties: edges in the order they were found
  const std::uint32_t best = graph_->vertices[vertex].best_edge;
  state.heap.push_back({graph_->edges[best].score, best, best, {0, 0}});
  return state;
}

// Adds the vertex's other edges: of most vertices, only the best derivation is asked for.
void KBestExtractor::make_heap(VertexState& state) const {
  const Vertex& vertex = graph_->vertices[state.vertex];
  for (std::uint32_t edge = vertex.last_edge; edge != kNoEdge; edge = graph_->edges[edge].previous)
    if (edge != vertex.best_edge) state.heap.push_back({graph_->edges[edge].score, edge, edge, {0, 0}});
  std::make_heap(state.heap.begin(), state.heap.end());
  state.has_heap = true;
}

bool KBestExtractor::missing(std::uint32_t vertex, std::uint32_t rank) {
  const VertexState& state = touch(vertex);
  return !state.exhausted && state.best.size() <= rank;
}

// Makes the vertex's derivations up to `rank`, or finds that there are no more. A derivation that needs a tail's
// next one puts that request on the stack and is looked at again afterwards.
void KBestExtractor::ensure(std::uint32_t vertex, std::uint32_t rank) {
  stack_.assign(1, {vertex, rank});
  while (!stack_.empty()) {
    Request request = stack_.back();
    VertexState& state = touch(request.vertex);
    if (state.exhausted || state.best.size() > request.rank) {
      stack_.pop_back();
      continue;
    }
    if (state.has_pending && !state.has_heap) make_heap(state);
    if (state.has_pending && !push_successors(state)) continue;
    if (state.heap.empty()) {
      state.exhausted = true;
      continue;
    }
    const Candidate& top = state.heap.front();
    const Edge& edge = graph_->edges[top.edge];
    bool waits = false;
    for (std::uint32_t tail = 0; tail < edge.arity && !waits; ++tail)
      if (missing(edge.tails[tail], top.ranks[tail])) {
        stack_.push_back({edge.tails[tail], top.ranks[tail]});
        waits = true;
      }
    if (waits) continue;
    state.pending = top;
    state.has_pending = true;
    std::pop_heap(state.heap.begin(), state.heap.end());
    state.heap.pop_back();
    Yield yield = unique_ ? yield_of(state.pending) : Yield();
    if (!unique_ || insert_yield(state, yield.hash)) state.best.push_back({state.pending, yield});
  }
}

// Adds what follows the last popped derivation; false if a tail's next derivation must be made first.
bool KBestExtractor::push_successors(VertexState& state) {
  const Candidate from = state.pending;
  const Edge& edge = graph_->edges[from.edge];
  for (std::uint32_t tail = 0; tail < edge.arity; ++tail) {
    // A combination is reached only from its last non-zero rank minus one, so none comes twice.
    if (tail == 0 && from.ranks[1] > 0) continue;
    if (missing(edge.tails[tail], from.ranks[tail] + 1)) {
      stack_.push_back({edge.tails[tail], from.ranks[tail] + 1});
      return false;
    }
  }
  for (std::uint32_t tail = 0; tail < edge.arity; ++tail) {
    if (tail == 0 && from.ranks[1] > 0) continue;
    const VertexState& below = touch(edge.tails[tail]);
    if (below.best.size() <= from.ranks[tail] + 1) continue;
    Candidate next = from;
    next.score += below.best[from.ranks[tail] + 1].from.score - below.best[from.ranks[tail]].from.score;
    next.ranks[tail] += 1;
    next.order = state.order++;
    state.heap.push_back(next);
    std::push_heap(state.heap.begin(), state.heap.end());
  }
  state.has_pending = false;
  return true;
}

Yield KBestExtractor::yield_of(const Candidate& candidate) {
  const Edge& edge = graph_->edges[candidate.edge];
  auto tail_yield = [&](std::uint32_t tail) { return touch(edge.tails[tail]).best[candidate.ranks[tail]].yield; };
  if (edge.rule == kNoRule) return tail_yield(0);
  const ScoredRule& rule = graph_->rules[edge.rule];
  const RuleTable& table = problem_->table_of(rule.extra);
  const Symbol* target = table.target(table.rules[rule.rule]);
  Yield yield;
  for (std::uint32_t at = 0; at < rule.length; ++at) {
    if (target[at] < 0) {
      yield.append(tail_yield(static_cast<std::uint32_t>(-1 - target[at])));
    } else {
      yield.append(static_cast<std::uint32_t>(target[at]));
    }
  }
  return yield;
}

bool KBestExtractor::insert_yield(VertexState& state, std::uint64_t hash) {
  if (state.seen.size() < kFewYields) {
    if (std::find(state.seen.begin(), state.seen.end(), hash) != state.seen.end()) return false;
    state.seen.push_back(hash);
    return true;
  }
  if (state.seen_many.empty()) state.seen_many.insert(state.seen.begin(), state.seen.end());
  return state.seen_many.insert(hash).second;
}

void KBestExtractor::read_off(std::uint32_t rank, Hypothesis& hypothesis) {
  const Hypergraph& graph = *graph_;
  hypothesis.words.clear();
  hypothesis.features.clear();
  touched_features_.clear();
  auto count = [&](std::uint32_t feature, double value) {
    if (feature >= values_.size()) values_.resize(feature + 1, 0.0);
    if (values_[feature] == 0) touched_features_.push_back(feature);
    values_[feature] += value;
  };
  double lm_score = 0;
  std::uint32_t unknown = 0, words = 0;
  walk(
      graph, *problem_, graph.goal, rank, frames_,
      [&](std::uint32_t vertex, std::uint32_t at, std::uint32_t* ranks) -> const Edge& {
        const Candidate& from = touch(vertex).best[at].from;
        ranks[0] = from.ranks[0];
        ranks[1] = from.ranks[1];
        return graph.edges[from.edge];
      },
      [&](const Edge& edge) {
        lm_score += edge.lm_score;
        if (edge.rule == kNoRule) return;
        const ScoredRule& scored = graph.rules[edge.rule];
        const RuleTable& table = problem_->table_of(scored.extra);
        unknown += scored.unknown;
        words += scored.words;
        count_features(table, table.rules[scored.rule], count);
      },
      [&](std::uint32_t word) { hypothesis.words.push_back(word); });
  count(problem_->features.word_penalty, kWordPenalty * words);
  if (problem_->lm_words) {
    count(problem_->features.language_model, lm_score);
    count(problem_->features.unknown_words, unknown);
  }
  // A feature whose values cancelled out on the way may be listed twice: reading clears it, so it counts once.
  std::sort(touched_features_.begin(), touched_features_.end());
  for (std::uint32_t feature : touched_features_) {
    if (values_[feature] != 0) hypothesis.features.push_back({feature, values_[feature]});
    values_[feature] = 0;
  }
  hypothesis.score = touch(graph.goal).best[rank].from.score;
}

std::vector<DerivationNode> KBestExtractor::derivation(std::uint32_t rank) {
  std::vector<DerivationNode> nodes;
  std::vector<Request> places{{graph_->goal, rank}};  // of the nodes, breadth first
  for (std::size_t at = 0; at < places.size(); ++at) {
    const Candidate& from = touch(places[at].vertex).best[places[at].rank].from;
    const Edge& edge = graph_->edges[from.edge];
    DerivationNode node;
    auto count = [&](std::uint32_t feature, double value) {
      if (value != 0) node.features.push_back({feature, value});
    };
    node.rule = kNoRule;
    std::uint32_t unknown = 0;
    if (edge.rule != kNoRule) {
      const ScoredRule& scored = graph_->rules[edge.rule];
      node.rule = scored.rule;
      node.extra = scored.extra;
      unknown = scored.unknown;
      const RuleTable& table = problem_->table_of(scored.extra);
      count_features(table, table.rules[scored.rule], count);
      count(problem_->features.word_penalty, kWordPenalty * scored.words);
    }
    if (problem_->lm_words) {
      count(problem_->features.language_model, edge.lm_score);
      count(problem_->features.unknown_words, unknown);
    }
    for (std::uint32_t tail = 0; tail < edge.arity; ++tail) {
      node.children.push_back(static_cast<std::uint32_t>(places.size()));
      places.push_back({edge.tails[tail], from.ranks[tail]});
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

}  // namespace itersel
