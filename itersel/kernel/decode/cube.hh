// Cube pruning of one (span, label): enumerate rule × tail × tail combinations roughly best first, score them with the
// language model, recombine equal states into vertices.
//
// A cube is a group of rules with the same source side over fixed tail cells. A combination waits in the queue under an
// estimate: the rule, its tails, and the joints of neighbouring pieces, each pair of neighbours on its own. Tails come
// from streams (tail_streams.hh), so that within a rule estimates fall from one combination to the next, except that
// where two tails meet, a later first tail may suit better. When a combination comes to the top the model is asked, and
// it waits again under its true score. So the model is asked little more often than combinations are accepted, while
// acceptance still follows the true scores.
//
// Many combinations repeat a string that the cell has already: another split, or another rule for the same words. What
// the language model says of a string depends on nothing else, so it is asked once per string (cell_strings.hh).
//
// Rules are opened one after the other: a cube's next rule waits under its own score with the best tails and the gain
// that joints usually bring in the cell (joint_gains.hh).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "decode/best_first.hh"
#include "decode/cell_strings.hh"
#include "decode/hypergraph.hh"
#include "decode/joint_gains.hh"
#include "decode/joints.hh"
#include "decode/scorer.hh"
#include "decode/tail_streams.hh"
#include "decode/yield.hh"
#include "grammar/rules.hh"

namespace itersel {

struct Cube {
  Range rules;
  std::uint32_t arity;
  Tails tails[2];
};

template <class Scorer>
class CubePruner {
 public:
  using State = typename Scorer::State;

  explicit CubePruner(Scorer& scorer) : scorer_(scorer), joints_(scorer), streams_(scorer, joints_) {}

  // A new sentence; `graph` is empty.
  void start(Hypergraph& graph, std::uint32_t pop_limit) {
    graph_ = &graph;
    pop_limit_ = pop_limit ? pop_limit : std::numeric_limits<std::uint32_t>::max();
    strings_.clear();
    rule_states_.clear();
    symbols_.clear();
    shapes_.clear();
    pieces_.clear();
    piece_slots_.assign(kFirstPieces, kEmpty);
    joints_.clear();
    streams_.start(graph);
  }

  // Stores a rule's target side for scoring, and its words' own language model score. A rule that `begins` the sentence
  // is a single non-terminal.
  void add_target(const Symbol* target, const std::uint32_t* lm_words, ScoredRule& rule);

  // Appends the vertices and edges of the given cubes, best vertex first, to the graph.
  void prune(const std::vector<Cube>& cubes);

  // The halves are kept only: thousands of vertices share them.
  State state(std::uint32_t vertex) const { return joints_.state(streams_.halves(vertex)); }

 private:
  struct Unset : State {
    Unset() {}  // no zeros: a state is written before it is read
  };
  struct Item {
    Item() {}
    double score;  // an estimate before the language model was asked
    const Cube* cube;
    std::uint32_t rule;        // offset
    std::uint32_t entries[2];  // of the streams of the tails, in the order of the target side
    std::uint32_t string;      // kEmpty before its score is known
    float lm_score;
  };
  struct Found {  // a vertex under construction
    double score;
    std::uint64_t hash;
    std::uint32_t state, best_edge, last_edge;
    std::uint32_t string;  // of the best edge
  };
  struct WholeString {  // of a vertex's best derivation
    Yield yield;
    double lm_score;
  };
  struct Piece {  // adjacent words of a target side
    std::uint32_t symbols, length;
    float lm_score;
    Halves halves;
    Yield yield;
  };
  struct Shape {  // a target side with non-terminals: the right and left halves of the words that face them, or kEmpty
    std::uint32_t before, between_left, between_right, after;
    std::uint32_t first;     // the tail that comes first
    std::uint32_t joints;    // of tails with words and with each other
    std::uint32_t words[3];  // the pieces before, between and after the tails, or kEmpty
  };
  struct Replacement {  // pushes combinations in place of the one on top of the queue
    CubePruner& pruner;
    bool any = false;

    void operator()(std::uint32_t id) {
      BestFirstQueue& queue = pruner.queue_;
      if (any)
        queue.push(pruner.items_[id].score, id);
      else
        queue.replace_top(pruner.items_[id].score, id);
      any = true;
    }
  };
  static constexpr std::uint32_t kEmpty = 0xFFFFFFFFu, kLexical = 0x80000000u, kUnopened = 0xFFFFFFFEu;
  static constexpr std::size_t kFirstPieces = 1024;  // a power of two

  // The state of a scored combination; a rule without non-terminals has its own.
  const State& item_state(std::uint32_t state) const {
    return state & kLexical ? rule_states_[state & ~kLexical] : item_states_[state];
  }
  const ScoredRule& rule_of(const Item& item) const { return graph_->rules[item.cube->rules.begin + item.rule]; }
  // The vertices of a combination, by tail.
  void find_tails(const Item& item, const ScoredRule& rule, std::uint32_t tails[2]) const {
    const std::uint32_t first = shapes_[rule.state].first;
    tails[first] = streams_[item.entries[0]].vertex;
    tails[1 - first] = item.cube->arity == 2 ? streams_[item.entries[1]].vertex : 0;
  }
  std::uint32_t piece(std::uint32_t symbols, std::uint32_t length);
  Yield yield_of(const Item& item, const ScoredRule& rule) const;
  Yield yield_of_words(std::uint32_t symbols, std::uint32_t length) const;
  std::uint32_t add_item(const Cube& cube, std::uint32_t rule, double score, std::uint32_t string);
  std::uint32_t add(const Cube& cube, std::uint32_t rule, std::uint32_t first, std::uint32_t second);
  std::uint32_t add_first(const Cube& cube, std::uint32_t rule, std::uint32_t first);
  template <class Push>
  void open(const Cube& cube, std::uint32_t rule, Push push);
  void push_successors(const Item& item);
  void find_score(Item& item);
  void accept(Item& item);
  std::uint32_t recombine(std::uint32_t state);
  void emit();

  Scorer& scorer_;
  Joints<Scorer> joints_;
  TailStreams<Scorer> streams_;
  Hypergraph* graph_ = nullptr;
  std::uint32_t pop_limit_ = 0;
  std::vector<WholeString> strings_;  // by vertex
  std::vector<State> rule_states_;    // of rules without non-terminals
  std::vector<Shape> shapes_;         // of rules with non-terminals
  std::vector<Symbol> symbols_;       // target sides of the sentence's rules
  std::vector<Piece> pieces_;
  std::vector<std::uint32_t> piece_slots_;
  // Of the cell at hand:
  std::vector<Item> items_;
  std::vector<Unset> item_states_;
  BestFirstQueue queue_;
  CellStrings known_;
  JointGains gains_;
  std::vector<Found> found_;
  std::vector<std::uint32_t> slots_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> order_;  // vertices, best score first, ties by age
};

template <class Scorer>
void CubePruner<Scorer>::add_target(const Symbol* target, const std::uint32_t* lm_words, ScoredRule& rule) {
  rule.symbols = static_cast<std::uint32_t>(symbols_.size());
  symbols_.resize(symbols_.size() + rule.begins + rule.length);
  Symbol* stored = symbols_.data() + rule.symbols;
  if (rule.begins) *stored++ = kSentenceBegin;
  for (std::uint32_t at = 0; at < rule.length; ++at) {
    Symbol symbol = target[at];
    if (symbol >= 0) {
      ++rule.words;
      symbol = lm_words ? static_cast<Symbol>(lm_words[symbol]) : 0;
      if (symbol == 0) ++rule.unknown;
    }
    *stored++ = symbol;
  }
  if (rule.words == rule.length) {
    rule.state = static_cast<std::uint32_t>(rule_states_.size());
    rule_states_.emplace_back();
    const State* none[2] = {nullptr, nullptr};
    rule.lm_score = scorer_.combine(symbols_.data() + rule.symbols, rule.length, none, rule_states_.back());
    return;
  }
  Shape shape{kEmpty, kEmpty, kEmpty, kEmpty, kEmpty, 0, {kEmpty, kEmpty, kEmpty}};
  if (rule.begins) {
    State begin;
    const State* none[2] = {nullptr, nullptr};
    scorer_.combine(symbols_.data() + rule.symbols, 1, none, begin);
    shape.before = joints_.number(begin).right;
  }
  for (std::uint32_t at = rule.symbols + rule.begins, end = static_cast<std::uint32_t>(symbols_.size()); at < end;) {
    if (symbols_[at] < 0) {
      if (shape.first == kEmpty) shape.first = static_cast<std::uint32_t>(-1 - symbols_[at]);
      ++at;
      continue;
    }
    const std::uint32_t start = at;
    while (at < end && symbols_[at] >= 0) ++at;
    const std::uint32_t words_id = piece(start, at - start);
    const Piece& words = pieces_[words_id];
    rule.lm_score += words.lm_score;
    if (shape.first == kEmpty) {
      shape.before = words.halves.right;
      shape.words[0] = words_id;
    } else if (at == end) {
      shape.after = words.halves.left;
      shape.words[2] = words_id;
    } else {
      shape.words[1] = words_id;
      shape.between_left = words.halves.left;
      shape.between_right = words.halves.right;
    }
  }
  shape.joints = (shape.before != kEmpty) + (shape.after != kEmpty);
  if (rule.length - rule.words == 2) shape.joints += shape.between_left == kEmpty ? 1 : 2;
  rule.state = static_cast<std::uint32_t>(shapes_.size());
  shapes_.push_back(shape);
}

// Most rules share their pieces with others.
template <class Scorer>
std::uint32_t CubePruner<Scorer>::piece(std::uint32_t symbols, std::uint32_t length) {
  auto hash_of = [&](const Symbol* symbol, std::uint32_t count) {
    std::uint64_t hash = count;
    for (const Symbol* end = symbol + count; symbol != end; ++symbol)
      hash = (hash ^ static_cast<std::uint32_t>(*symbol)) * 0x9E3779B97F4A7C15ull;
    return hash >> 32;
  };
  const Symbol* const words = symbols_.data() + symbols;
  std::size_t slot = hash_of(words, length) & (piece_slots_.size() - 1);
  for (; piece_slots_[slot] != kEmpty; slot = (slot + 1) & (piece_slots_.size() - 1)) {
    const Piece& known = pieces_[piece_slots_[slot]];
    if (known.length == length && std::equal(words, words + length, symbols_.data() + known.symbols))
      return piece_slots_[slot];
  }
  const std::uint32_t added = piece_slots_[slot] = static_cast<std::uint32_t>(pieces_.size());
  State state;
  const State* const none[2] = {nullptr, nullptr};
  const float lm_score = scorer_.combine(words, length, none, state);
  pieces_.push_back({symbols, length, lm_score, joints_.number(state), yield_of_words(symbols, length)});
  if (2 * pieces_.size() > piece_slots_.size()) {
    piece_slots_.assign(2 * piece_slots_.size(), kEmpty);
    for (std::uint32_t at = 0; at < pieces_.size(); ++at) {
      slot = hash_of(symbols_.data() + pieces_[at].symbols, pieces_[at].length) & (piece_slots_.size() - 1);
      while (piece_slots_[slot] != kEmpty) slot = (slot + 1) & (piece_slots_.size() - 1);
      piece_slots_[slot] = at;
    }
  }
  return added;
}

template <class Scorer>
std::uint32_t CubePruner<Scorer>::add_item(const Cube& cube, std::uint32_t rule, double score, std::uint32_t string) {
  items_.emplace_back();
  Item& item = items_.back();
  item.score = score;
  item.cube = &cube;
  item.rule = rule;
  item.string = string;
  return static_cast<std::uint32_t>(items_.size() - 1);
}

// A new combination under its estimate.
template <class Scorer>
std::uint32_t CubePruner<Scorer>::add(const Cube& cube, std::uint32_t rule, std::uint32_t first, std::uint32_t second) {
  double score = graph_->rules[cube.rules.begin + rule].estimate + streams_[first].score;
  if (cube.arity == 2) score += streams_[second].score;
  const std::uint32_t id = add_item(cube, rule, score, kEmpty);
  items_[id].entries[0] = first;
  items_[id].entries[1] = second;
  return id;
}

// The best combination with this entry for the tail that comes first on the target side.
template <class Scorer>
std::uint32_t CubePruner<Scorer>::add_first(const Cube& cube, std::uint32_t rule, std::uint32_t first) {
  std::uint32_t second = kEmpty;
  if (cube.arity == 2) {
    const Shape& shape = shapes_[graph_->rules[cube.rules.begin + rule].state];
    const std::uint32_t before =
        shape.between_right == kEmpty ? streams_.halves(streams_[first].vertex).right : shape.between_right;
    second = streams_.first(cube.tails[1 - shape.first], before, shape.after);
  }
  return add(cube, rule, first, second);
}

// Adds the first combination of a rule, and, in its wake, the cube's next rule.
template <class Scorer>
template <class Push>
void CubePruner<Scorer>::open(const Cube& cube, std::uint32_t rule_at, Push push) {
  const ScoredRule& rule = graph_->rules[cube.rules.begin + rule_at];
  const Shape& shape = shapes_[rule.state];
  double best_tails = 0;
  for (std::uint32_t tail = 0; tail < cube.arity; ++tail) best_tails += graph_->vertices[cube.tails[tail].begin].score;
  const std::uint32_t first =
      streams_.first(cube.tails[shape.first], shape.before, cube.arity == 2 ? shape.between_left : shape.after);
  const std::uint32_t id = add_first(cube, rule_at, first);
  gains_.learn(shape.joints, items_[id].score - rule.estimate - best_tails);
  push(id);
  if (cube.rules.begin + rule_at + 1 == cube.rules.end) return;
  const ScoredRule& next = graph_->rules[cube.rules.begin + rule_at + 1];
  const double expected = next.estimate + best_tails + gains_.expect(shapes_[next.state].joints);
  push(add_item(cube, rule_at + 1, expected, kUnopened));
}

template <class Scorer>
void CubePruner<Scorer>::prune(const std::vector<Cube>& cubes) {
  items_.clear();
  item_states_.clear();
  queue_.clear();
  found_.clear();
  known_.clear();
  slots_.assign(512, kEmpty);
  gains_.clear();
  auto push_unordered = [&](std::uint32_t id) { queue_.push_unordered(items_[id].score, id); };
  for (const Cube& cube : cubes) {
    if (cube.arity == 0)
      push_unordered(add_item(cube, 0, graph_->rules[cube.rules.begin].estimate, kLexical));
    else
      open(cube, 0, push_unordered);
  }
  queue_.restore_order();
  std::uint32_t pops = 0;
  while (!queue_.empty() && pops < pop_limit_) {
    std::uint32_t id = queue_.top();
    Item& item = items_[id];
    if (item.string == kUnopened) {
      open(*item.cube, item.rule, Replacement{*this});
      continue;
    }
    if (item.string == kEmpty) {
      find_score(item);
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

// Takes the accepted combination off the queue and adds what follows it. Each combination has one predecessor only, so
// none is built twice.
template <class Scorer>
void CubePruner<Scorer>::push_successors(const Item& from) {
  const Cube& cube = *from.cube;
  const std::uint32_t rule = from.rule, first = from.entries[0], second = from.entries[1];  // `from` moves
  Replacement push{*this};
  if (cube.arity == 0) {
    if (cube.rules.begin + rule + 1 < cube.rules.end) {
      const ScoredRule& next = graph_->rules[cube.rules.begin + rule + 1];
      push(add_item(cube, rule + 1, next.estimate, kLexical));
    }
  } else {
    if (cube.arity == 1 || streams_.is_first(second)) {
      const std::uint32_t next = streams_.next(first);
      if (next != kEmpty) push(add_first(cube, rule, next));
    }
    if (cube.arity == 2) {
      const std::uint32_t next = streams_.next(second);
      if (next != kEmpty) push(add(cube, rule, first, next));
    }
  }
  if (!push.any) queue_.pop();
}

// Of words as the language model numbers them.
template <class Scorer>
Yield CubePruner<Scorer>::yield_of_words(std::uint32_t symbols, std::uint32_t length) const {
  Yield yield;
  for (std::uint32_t at = 0; at < length; ++at) yield.append(static_cast<std::uint32_t>(symbols_[symbols + at]));
  return yield;
}

// <s> is left out: either all strings of a cell begin with it or none.
template <class Scorer>
Yield CubePruner<Scorer>::yield_of(const Item& item, const ScoredRule& rule) const {
  if (item.cube->arity == 0) return yield_of_words(rule.symbols, rule.length);
  const Shape& shape = shapes_[rule.state];
  Yield yield = strings_[streams_[item.entries[0]].vertex].yield;
  if (shape.words[0] != kEmpty) {
    const Yield tail = yield;
    yield = pieces_[shape.words[0]].yield;
    yield.append(tail);
  }
  if (shape.words[1] != kEmpty) yield.append(pieces_[shape.words[1]].yield);
  if (item.cube->arity == 2) yield.append(strings_[streams_[item.entries[1]].vertex].yield);
  if (shape.words[2] != kEmpty) yield.append(pieces_[shape.words[2]].yield);
  return yield;
}

// Replaces the estimate by the true score. The model is asked unless the cell has the string already.
template <class Scorer>
void CubePruner<Scorer>::find_score(Item& item) {
  const ScoredRule& rule = rule_of(item);
  std::uint32_t vertices[2];
  find_tails(item, rule, vertices);
  double score = rule.score + graph_->vertices[vertices[0]].score, tails_lm_score = strings_[vertices[0]].lm_score;
  if (item.cube->arity == 2) {
    score += graph_->vertices[vertices[1]].score;
    tails_lm_score += strings_[vertices[1]].lm_score;
  }
  bool is_new;
  item.string = known_.number(yield_of(item, rule), is_new);
  CellStrings::Known& known = known_[item.string];
  if (is_new) {
    Unset states[2];
    for (std::uint32_t tail = 0; tail < item.cube->arity; ++tail)
      static_cast<State&>(states[tail]) = state(vertices[tail]);
    const State* tails[2] = {&states[0], &states[1]};
    known.state = static_cast<std::uint32_t>(item_states_.size());
    item_states_.emplace_back();
    item.lm_score =
        scorer_.combine(symbols_.data() + rule.symbols, rule.length + rule.begins, tails, item_states_.back());
    known.lm_score = tails_lm_score + item.lm_score;
  } else {
    item.lm_score = static_cast<float>(known.lm_score - tails_lm_score);
  }
  item.score = score + scorer_.weight() * item.lm_score;
}

// Makes a combination an edge of a new or known vertex.
template <class Scorer>
void CubePruner<Scorer>::accept(Item& item) {
  const Cube& cube = *item.cube;
  const ScoredRule& rule = rule_of(item);
  std::uint32_t tails[2] = {0, 0};
  if (cube.arity) {
    find_tails(item, rule, tails);
  } else {
    bool is_new;
    item.string = known_.number(yield_of(item, rule), is_new);
    item.lm_score = rule.lm_score;
    if (is_new) {
      known_[item.string].state = kLexical | rule.state;
      known_[item.string].lm_score = rule.lm_score;
    }
  }
  CellStrings::Known& known = known_[item.string];
  if (known.vertex == kEmpty) known.vertex = recombine(known.state);
  Found& found = found_[known.vertex];
  const std::uint32_t edge = static_cast<std::uint32_t>(graph_->edges.size());
  graph_->edges.push_back(
      {item.score, {tails[0], tails[1]}, cube.rules.begin + item.rule, item.lm_score, cube.arity, found.last_edge});
  if (item.score > found.score || found.last_edge == kNoEdge) {
    found.score = item.score;
    found.best_edge = edge;
    found.string = item.string;
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
  found_.push_back({0, hash, state_id, kNoEdge, kNoEdge, kEmpty});
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
    strings_.push_back({known_[found.string].yield, known_[found.string].lm_score});
    streams_.add_vertex(joints_.number(item_state(found.state)));
  }
}

}  // namespace itersel
