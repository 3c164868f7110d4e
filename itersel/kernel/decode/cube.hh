// Cube pruning of one (span, label): enumerate rule × tail × tail combinations roughly best first, score them with the
// language model, recombine equal states into vertices.
//
// A cube is a group of rules with the same source side over fixed tail cells; its first dimension is "the rules, best
// first". A combination waits in the queue under an estimate that lacks the language model's view of the joints; when
// it comes to the top the model is asked, and it waits again under its true score. So the model is asked little more
// often than combinations are accepted, while acceptance still follows the true scores.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "decode/best_first.hh"
#include "decode/hypergraph.hh"
#include "grammar/rules.hh"

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

  explicit CubePruner(Scorer& scorer) : scorer_(scorer) {}

  // A new sentence; `graph` is empty.
  void start(Hypergraph& graph, std::uint32_t pop_limit) {
    graph_ = &graph;
    pop_limit_ = pop_limit ? pop_limit : std::numeric_limits<std::uint32_t>::max();
    states_.clear();
    rule_states_.clear();
    symbols_.clear();
  }

  // Stores a rule's target side for scoring, and its words' own language model score.
  void add_target(const Symbol* target, const std::uint32_t* lm_words, ScoredRule& rule);

  // Appends the vertices and edges of the given cubes, best vertex first, to the graph.
  void prune(const std::vector<Cube>& cubes);

  const State& state(std::uint32_t vertex) const { return states_[vertex]; }

 private:
  struct Unset : State {
    Unset() {}  // no zeros: a state is written before it is read
  };
  struct Item {
    Item() {}
    double score;  // an estimate before the language model was asked
    const Cube* cube;
    std::uint32_t rule, tails[2];  // offsets
    std::uint32_t state;           // kEmpty before the language model was asked
    float lm_score;
  };
  struct Found {  // a vertex under construction
    double score;
    std::uint64_t hash;
    std::uint32_t state, best_edge, last_edge;
  };
  static constexpr std::uint32_t kEmpty = 0xFFFFFFFFu, kLexical = 0x80000000u;

  // The state of a scored combination; a rule without non-terminals has its own.
  const State& item_state(std::uint32_t state) const {
    return state & kLexical ? rule_states_[state & ~kLexical] : item_states_[state];
  }
  std::uint32_t add(const Cube& cube, std::uint32_t rule, std::uint32_t left, std::uint32_t right);
  void push_successors(const Item& item);
  void ask_model(Item& item);
  void accept(const Item& item);
  std::uint32_t recombine(std::uint32_t state);
  void emit();

  Scorer& scorer_;
  Hypergraph* graph_ = nullptr;
  std::uint32_t pop_limit_ = 0;
  std::vector<State> states_;       // by vertex
  std::vector<State> rule_states_;  // of rules without non-terminals
  std::vector<Symbol> symbols_;     // target sides of the sentence's rules
  // Of the cell at hand:
  std::vector<Item> items_;
  std::vector<Unset> item_states_;
  BestFirstQueue queue_;
  std::vector<Found> found_;
  std::vector<std::uint32_t> slots_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> order_;  // vertices, best score first, ties by age
};

template <class Scorer>
void CubePruner<Scorer>::add_target(const Symbol* target, const std::uint32_t* lm_words, ScoredRule& rule) {
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
  const Symbol* symbols = symbols_.data() + rule.symbols;
  if (rule.words == rule.length) {
    rule.state = static_cast<std::uint32_t>(rule_states_.size());
    rule_states_.emplace_back();
    const State* none[2] = {nullptr, nullptr};
    rule.lm_score = scorer_.combine(symbols, rule.length, none, rule_states_.back());
  } else {
    rule.lm_score = scorer_.words_alone(symbols, rule.length);
  }
}

// A new combination under its estimate; exact if the rule has no non-terminals.
template <class Scorer>
std::uint32_t CubePruner<Scorer>::add(const Cube& cube, std::uint32_t rule_at, std::uint32_t left,
                                      std::uint32_t right) {
  const ScoredRule& rule = graph_->rules[cube.rules.begin + rule_at];
  double score = rule.estimate;
  if (cube.arity) score += graph_->vertices[cube.tails[0].begin + left].score;
  if (cube.arity == 2) score += graph_->vertices[cube.tails[1].begin + right].score;
  items_.emplace_back();
  Item& item = items_.back();
  item.score = score;
  item.cube = &cube;
  item.rule = rule_at;
  item.tails[0] = left;
  item.tails[1] = right;
  item.state = cube.arity ? kEmpty : kLexical | rule.state;
  item.lm_score = rule.lm_score;
  return static_cast<std::uint32_t>(items_.size() - 1);
}

template <class Scorer>
void CubePruner<Scorer>::prune(const std::vector<Cube>& cubes) {
  items_.clear();
  item_states_.clear();
  queue_.clear();
  found_.clear();
  slots_.assign(512, kEmpty);
  for (const Cube& cube : cubes) {
    std::uint32_t id = add(cube, 0, 0, 0);
    queue_.push_unordered(items_[id].score, id);
  }
  queue_.restore_order();
  std::uint32_t pops = 0;
  while (!queue_.empty() && pops < pop_limit_) {
    std::uint32_t id = queue_.top();
    Item& item = items_[id];
    if (item.state == kEmpty) {
      ask_model(item);
      if (!queue_.stays_on_top(item.score, id)) {
        queue_.replace_top(item.score, id);
        continue;
      }
    }
    accept(item);
    push_successors(item);
    ++pops;
  }
  emit();
}

// Takes the accepted combination off the queue and adds what follows it. Each combination has one predecessor only
// (in its first non-zero coordinate of: first tail, rule, second tail), so none is built twice.
template <class Scorer>
void CubePruner<Scorer>::push_successors(const Item& from) {
  const Cube& cube = *from.cube;
  std::uint32_t rule = from.rule, left = from.tails[0], right = from.tails[1];  // `from` moves when items are added
  bool replaced = false;
  auto push = [&](std::uint32_t rule, std::uint32_t left, std::uint32_t right) {
    std::uint32_t id = add(cube, rule, left, right);
    if (replaced)
      queue_.push(items_[id].score, id);
    else
      queue_.replace_top(items_[id].score, id);
    replaced = true;
  };
  if (cube.arity >= 1 && left + 1 < cube.tails[0].size()) push(rule, left + 1, right);
  if (left == 0 && rule + 1 < cube.rules.end - cube.rules.begin) push(rule + 1, 0, right);
  if (cube.arity == 2 && left == 0 && rule == 0 && right + 1 < cube.tails[1].size()) push(0, 0, right + 1);
  if (!replaced) queue_.pop();
}

template <class Scorer>
void CubePruner<Scorer>::ask_model(Item& item) {
  const Cube& cube = *item.cube;
  const ScoredRule& rule = graph_->rules[cube.rules.begin + item.rule];
  std::uint32_t first = cube.tails[0].begin + item.tails[0], second = cube.tails[1].begin + item.tails[1];
  const State* tails[2] = {&states_[first], nullptr};
  double score = rule.score + graph_->vertices[first].score;
  if (cube.arity == 2) {
    tails[1] = &states_[second];
    score += graph_->vertices[second].score;
  }
  item.state = static_cast<std::uint32_t>(item_states_.size());
  item_states_.emplace_back();
  item.lm_score = scorer_.combine(symbols_.data() + rule.symbols, rule.length, tails, item_states_.back());
  item.score = score + scorer_.weight() * item.lm_score;
}

// Makes a combination an edge of a new or known vertex.
template <class Scorer>
void CubePruner<Scorer>::accept(const Item& item) {
  const Cube& cube = *item.cube;
  Found& found = found_[recombine(item.state)];
  std::uint32_t edge = static_cast<std::uint32_t>(graph_->edges.size());
  graph_->edges.push_back({item.score,
                           {cube.tails[0].begin + item.tails[0], cube.tails[1].begin + item.tails[1]},
                           cube.rules.begin + item.rule,
                           item.lm_score,
                           cube.arity,
                           found.last_edge});
  if (item.score > found.score || found.last_edge == kNoEdge) {
    found.score = item.score;
    found.best_edge = edge;
  }
  found.last_edge = edge;
}

template <class Scorer>
std::uint32_t CubePruner<Scorer>::recombine(std::uint32_t state_id) {
  if (2 * (found_.size() + 1) > slots_.size()) {
    slots_.assign(2 * slots_.size(), kEmpty);
    for (std::uint32_t vertex = 0; vertex < found_.size(); ++vertex) {
      std::uint64_t slot = found_[vertex].hash & (slots_.size() - 1);
      while (slots_[slot] != kEmpty) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = vertex;
    }
  }
  const State& state = item_state(state_id);
  std::uint64_t hash = Scorer::hash(state), mask = slots_.size() - 1, slot = hash & mask;
  for (; slots_[slot] != kEmpty; slot = (slot + 1) & mask) {
    const Found& known = found_[slots_[slot]];
    if (known.hash == hash && Scorer::equal(item_state(known.state), state)) return slots_[slot];
  }
  slots_[slot] = static_cast<std::uint32_t>(found_.size());
  found_.push_back({0, hash, state_id, kNoEdge, kNoEdge});
  return slots_[slot];
}

// Writes the vertices to the graph, best first.
template <class Scorer>
void CubePruner<Scorer>::emit() {
  order_.clear();
  for (std::uint32_t vertex = 0; vertex < found_.size(); ++vertex)
    order_.emplace_back(~sortable(found_[vertex].score), vertex);
  std::sort(order_.begin(), order_.end());
  for (const auto& [key, vertex] : order_) {
    const Found& found = found_[vertex];
    graph_->vertices.push_back({found.score, found.best_edge, found.last_edge});
    states_.push_back(item_state(found.state));
  }
}

}  // namespace itersel
