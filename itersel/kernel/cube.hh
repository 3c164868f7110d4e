// Cube pruning of one (span, label): enumerate rule × tail × tail combinations roughly best first, score each with the
// language model, recombine equal states into vertices.
//
// A cube is a group of rules with the same source side over fixed tail cells; its first dimension is "the rules, best
// first". A combination is reached from exactly one predecessor (its last non-zero coordinate minus one), so none is
// built twice and no table of visited ones is needed.
#pragma once

#include <algorithm>
#include <limits>
#include <cstdint>
#include <vector>

#include "hypergraph.hh"
#include "rules.hh"

namespace itersel {

struct Tails {  // a finished cell: vertices, best first
  std::uint32_t begin, end;
  std::uint32_t size() const { return end - begin; }
};

struct Cube {
  Range rules;
  std::uint32_t arity;
  Tails tails[2];
};

template <class Scorer>
class CubePruner {
 public:
  using State = typename Scorer::State;

  explicit CubePruner(const Scorer &scorer) : scorer_(scorer) {}

  // A new sentence; `graph` is empty.
  void start(Hypergraph &graph, std::uint32_t pop_limit) {
    graph_ = &graph;
    pop_limit_ = pop_limit;
    states_.clear();
    rule_states_.clear();
    symbols_.clear();
  }

  // Stores a rule's target side for scoring, and its words' own language model score.
  void add_target(const Symbol *target, const std::uint32_t *lm_words, ScoredRule &rule);

  // Appends the vertices and edges of the given cubes, best vertex first, to the graph.
  void prune(const std::vector<Cube> &cubes);

  const State &state(std::uint32_t vertex) const { return states_[vertex]; }

 private:
  struct Item {
    std::uint32_t cube, rule, tails[2];  // coordinates are offsets
    float lm_score;
    State state;
  };
  struct Ranked {
    double score;
    std::uint32_t item;
    // Ties: the earlier item first, so that the order is a function of the input alone.
    bool operator<(const Ranked &other) const {
      return score != other.score ? score < other.score : item > other.item;
    }
  };
  struct Found {  // a vertex under construction
    double score;
    std::uint32_t item, first_edge, edge_count;
  };
  struct Popped {
    Edge edge;
    std::uint32_t vertex;
  };

  void push(const std::vector<Cube> &cubes, std::uint32_t cube, std::uint32_t rule, std::uint32_t left,
            std::uint32_t right);
  void accept(const std::vector<Cube> &cubes, const Ranked &best);
  std::uint32_t recombine(std::uint32_t item);
  void emit();

  static constexpr std::uint32_t kEmpty = 0xFFFFFFFFu;

  const Scorer &scorer_;
  Hypergraph *graph_ = nullptr;
  std::uint32_t pop_limit_ = 0;
  std::vector<State> states_;       // by vertex
  std::vector<State> rule_states_;  // of rules without non-terminals
  std::vector<Symbol> symbols_;     // target sides of the sentence's rules
  std::vector<Item> items_;
  std::vector<Ranked> heap_;
  std::vector<Found> found_;
  std::vector<Popped> popped_;
  std::vector<std::uint32_t> slots_, order_;
};

template <class Scorer>
void CubePruner<Scorer>::add_target(const Symbol *target, const std::uint32_t *lm_words, ScoredRule &rule) {
  rule.symbols = static_cast<std::uint32_t>(symbols_.size());
  for (std::uint32_t at = 0; at < rule.length; ++at) {
    Symbol symbol = target[at];
    if (symbol >= 0) {
      ++rule.words;
      symbol = lm_words ? static_cast<Symbol>(lm_words[symbol]) : 0;
      if (symbol == 0) ++rule.unknown;
    }
    symbols_.push_back(symbol);
  }
  const Symbol *symbols = symbols_.data() + rule.symbols;
  if (rule.words == rule.length) {
    rule.state = static_cast<std::uint32_t>(rule_states_.size());
    rule_states_.emplace_back();
    const State *none[2] = {nullptr, nullptr};
    rule.lm_score = scorer_.combine(symbols, rule.length, none, rule_states_.back());
  } else {
    rule.lm_score = scorer_.words_alone(symbols, rule.length);
  }
}

template <class Scorer>
void CubePruner<Scorer>::push(const std::vector<Cube> &cubes, std::uint32_t cube_id, std::uint32_t rule_at,
                              std::uint32_t left, std::uint32_t right) {
  const Cube &cube = cubes[cube_id];
  const ScoredRule &rule = graph_->rules[cube.rules.begin + rule_at];
  std::uint32_t id = static_cast<std::uint32_t>(items_.size());
  items_.emplace_back();
  Item &item = items_.back();
  item.cube = cube_id;
  item.rule = rule_at;
  item.tails[0] = left;
  item.tails[1] = right;
  double score = rule.score;
  if (cube.arity == 0) {
    item.state = rule_states_[rule.state];
    item.lm_score = rule.lm_score;
  } else {
    const State *tails[2] = {nullptr, nullptr};
    std::uint32_t first = cube.tails[0].begin + left;
    tails[0] = &states_[first];
    score += graph_->vertices[first].score;
    if (cube.arity == 2) {
      std::uint32_t second = cube.tails[1].begin + right;
      tails[1] = &states_[second];
      score += graph_->vertices[second].score;
    }
    item.lm_score = scorer_.combine(symbols_.data() + rule.symbols, rule.length, tails, item.state);
  }
  heap_.push_back({score + scorer_.weight() * item.lm_score, id});
}

template <class Scorer>
void CubePruner<Scorer>::prune(const std::vector<Cube> &cubes) {
  items_.clear();
  heap_.clear();
  found_.clear();
  popped_.clear();
  slots_.assign(1024, kEmpty);
  for (std::uint32_t cube = 0; cube < cubes.size(); ++cube) push(cubes, cube, 0, 0, 0);
  std::make_heap(heap_.begin(), heap_.end());
  for (std::uint32_t pops = 0; !heap_.empty() && (pop_limit_ == 0 || pops < pop_limit_); ++pops) {
    std::pop_heap(heap_.begin(), heap_.end());
    Ranked best = heap_.back();
    heap_.pop_back();
    accept(cubes, best);
    Item item = items_[best.item];  // a copy of the coordinates: push moves the items
    const Cube &cube = cubes[item.cube];
    auto push_next = [&](std::uint32_t rule, std::uint32_t left, std::uint32_t right) {
      push(cubes, item.cube, rule, left, right);
      std::push_heap(heap_.begin(), heap_.end());
    };
    if (cube.arity == 2 && item.tails[1] + 1 < cube.tails[1].size())
      push_next(item.rule, item.tails[0], item.tails[1] + 1);
    if (cube.arity >= 1 && item.tails[1] == 0 && item.tails[0] + 1 < cube.tails[0].size())
      push_next(item.rule, item.tails[0] + 1, 0);
    if (item.tails[0] == 0 && item.tails[1] == 0 && item.rule + 1 < cube.rules.end - cube.rules.begin)
      push_next(item.rule + 1, 0, 0);
  }
  emit();
}

// Turns a popped combination into an edge of a new or known vertex.
template <class Scorer>
void CubePruner<Scorer>::accept(const std::vector<Cube> &cubes, const Ranked &best) {
  const Item &item = items_[best.item];
  const Cube &cube = cubes[item.cube];
  Edge edge{best.score,
            {cube.tails[0].begin + item.tails[0], cube.tails[1].begin + item.tails[1]},
            cube.rules.begin + item.rule,
            item.lm_score,
            cube.arity};
  std::uint32_t vertex = recombine(best.item);
  Found &found = found_[vertex];
  found.score = std::max(found.score, edge.score);
  popped_.push_back({edge, vertex});
  ++found.edge_count;
}

template <class Scorer>
std::uint32_t CubePruner<Scorer>::recombine(std::uint32_t item) {
  const State &state = items_[item].state;
  if (2 * (found_.size() + 1) > slots_.size()) {
    slots_.assign(2 * slots_.size(), kEmpty);
    for (std::uint32_t vertex = 0; vertex < found_.size(); ++vertex) {
      std::uint64_t slot = Scorer::hash(items_[found_[vertex].item].state) & (slots_.size() - 1);
      while (slots_[slot] != kEmpty) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = vertex;
    }
  }
  std::uint64_t slot = Scorer::hash(state) & (slots_.size() - 1);
  for (; slots_[slot] != kEmpty; slot = (slot + 1) & (slots_.size() - 1))
    if (Scorer::equal(items_[found_[slots_[slot]].item].state, state)) return slots_[slot];
  slots_[slot] = static_cast<std::uint32_t>(found_.size());
  found_.push_back({-std::numeric_limits<double>::infinity(), item, 0, 0});
  return slots_[slot];
}

// Writes vertices and edges to the graph: vertices by score, edges by vertex and score.
template <class Scorer>
void CubePruner<Scorer>::emit() {
  order_.resize(found_.size());
  for (std::uint32_t vertex = 0; vertex < order_.size(); ++vertex) order_[vertex] = vertex;
  std::stable_sort(order_.begin(), order_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return found_[a].score > found_[b].score; });
  std::uint32_t next_edge = static_cast<std::uint32_t>(graph_->edges.size());
  for (std::uint32_t vertex : order_) {
    Found &found = found_[vertex];
    graph_->vertices.push_back({found.score, next_edge, found.edge_count});
    states_.push_back(items_[found.item].state);
    found.first_edge = next_edge;
    next_edge += found.edge_count;
  }
  graph_->edges.resize(next_edge);
  for (const Popped &popped : popped_) graph_->edges[found_[popped.vertex].first_edge++] = popped.edge;
  for (std::uint32_t vertex : order_) {
    const Found &found = found_[vertex];
    auto end = graph_->edges.begin() + found.first_edge;
    if (found.edge_count > 1)
      std::stable_sort(end - found.edge_count, end, [](const Edge &a, const Edge &b) { return a.score > b.score; });
  }
}

}  // namespace itersel
