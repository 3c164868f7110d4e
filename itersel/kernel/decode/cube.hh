// Cube pruning of one (span, label): enumerate rule × tail × tail combinations roughly best first, score them with the
// language model, recombine equal states into vertices.
//
// A cube is a group of rules with the same source side over fixed tail cells. A combination waits in the queue under an
// estimate: the rule, its tails, and the joints of neighbouring pieces, each pair of neighbours on its own. Tails come
// from streams (tail_streams.hh), so that within a rule estimates fall from one combination to the next. When a
// combination comes to the top the model is asked, and it waits again under its true score. So the model is asked
// little more often than combinations are accepted, while acceptance still follows the true scores.
//
// Many combinations repeat a string that the cell has already: another split, or another rule for the same words. The
// language model's score of the string is known then, so such a combination is scored without asking; unless it is the
// string's best so far, only its successors are of interest, and it does not count towards the limit. Without a limit,
// every combination is kept.
//
// Rules are opened when their turn comes: a cube's next rule waits under its own score with the best tails and the gain
// that joints usually bring (joint_gains.hh).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "decode/best_first.hh"
#include "decode/hypergraph.hh"
#include "decode/joint_gains.hh"
#include "decode/joints.hh"
#include "decode/known_yields.hh"
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
    limited_ = pop_limit > 0;
    limit_ = limited_ ? strings_within(pop_limit) : std::numeric_limits<std::uint32_t>::max();
    states_.clear();
    yields_.clear();
    lm_scores_.clear();
    rule_states_.clear();
    rule_targets_.clear();
    symbols_.clear();
    shapes_.clear();
    word_yields_.clear();
    pieces_.clear();
    piece_slots_.assign(kFirstPieces, kEmpty);
    joints_.clear();
    gains_.clear();
    streams_.start(graph);
  }

  // Stores a rule's target side for scoring, and its words' own language model score. A rule that `begins` the sentence
  // is a single non-terminal.
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
    std::uint32_t rule;        // offset
    std::uint32_t entries[2];  // of the streams of the tails, in the order of the target side
    std::uint32_t state;       // kEmpty before the language model was asked
    float lm_score;
    Yield yield;            // set if there is a limit
    double whole_lm_score;  // of the yield, with the tails'; set if there is a limit
  };
  struct Found {  // a vertex under construction
    double score;
    std::uint64_t hash;
    std::uint32_t state, best_edge, last_edge;
    Yield yield;  // of the best edge
    double whole_lm_score;
  };
  struct Piece {  // adjacent words of a target side
    std::uint32_t symbols, length;
    float lm_score;
    Halves halves;
  };
  struct Shape {  // a target side with non-terminals: the right and left halves of the words that face them, or kEmpty
    std::uint32_t before, between_left, between_right, after;
    std::uint32_t first;   // the tail that comes first
    std::uint32_t joints;  // of tails with words and with each other
    std::uint32_t yields;  // of the words before, between and after the tails: first of three, or kEmpty
    const Symbol* target;  // words by their own numbers: to the language model all unknown words are one
  };
  static constexpr std::uint32_t kEmpty = 0xFFFFFFFFu, kLexical = 0x80000000u, kUnopened = 0xFFFFFFFEu;
  static constexpr std::size_t kFirstPieces = 1024;  // a power of two
  static constexpr std::uint32_t kSmallLimit = 8;
  // So many times the limit, combinations that repeat a string have successors.
  static constexpr std::uint32_t kRepeats = 4;
  // Scores of one string by two derivations are equal up to this much if their rules' scores are.
  static constexpr double kRounding = 1e-6;

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
  static bool tails_meet(const Cube& cube, const Shape& shape) {
    return cube.arity == 2 && shape.between_left == kEmpty;
  }
  // How many different strings a cell may have. Pop limits are known from searches that also count combinations which
  // repeat a string, at least every second one; only small limits are taken as they are.
  static std::uint32_t strings_within(std::uint32_t pop_limit) {
    return std::max(pop_limit - pop_limit / 2, std::min(pop_limit, kSmallLimit));
  }
  const Piece& piece(std::uint32_t symbols, std::uint32_t length);
  std::uint32_t add_item(const Cube& cube, std::uint32_t rule, double score, std::uint32_t state);
  std::uint32_t add(const Cube& cube, std::uint32_t rule, std::uint32_t first, std::uint32_t second);
  std::uint32_t add_first(const Cube& cube, std::uint32_t rule, std::uint32_t first);
  void open(const Cube& cube, std::uint32_t rule);
  std::uint32_t add_unopened(const Cube& cube, std::uint32_t rule);
  double best_tails(const Cube& cube) const;
  void push_successors(const Item& item);
  Yield yield_of(const Item& item);
  bool repeats(Item& item);
  void ask_model(Item& item);
  void accept(const Item& item);
  std::uint32_t recombine(std::uint32_t state);
  void emit();

  Scorer& scorer_;
  Joints<Scorer> joints_;
  TailStreams<Scorer> streams_;
  Hypergraph* graph_ = nullptr;
  bool limited_ = false;
  std::uint32_t limit_ = 0;                  // of a cell's strings
  std::vector<State> states_;                // by vertex
  std::vector<Yield> yields_;                // of the vertex's best derivation
  std::vector<double> lm_scores_;            // of that yield
  std::vector<State> rule_states_;           // of rules without non-terminals
  std::vector<const Symbol*> rule_targets_;  // of the same rules
  std::vector<Shape> shapes_;                // of rules with non-terminals
  std::vector<Yield> word_yields_;           // of the same rules, when they are first asked for
  JointGains gains_;
  std::vector<Symbol> symbols_;  // target sides of the sentence's rules
  std::vector<Piece> pieces_;
  std::vector<std::uint32_t> piece_slots_;
  // Of the cell at hand:
  std::vector<Item> items_;
  std::vector<Unset> item_states_;
  BestFirstQueue queue_;
  KnownYields known_;
  std::vector<Found> found_;
  std::vector<std::uint32_t> slots_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> order_;  // vertices, best score first, ties by age
};

template <class Scorer>
void CubePruner<Scorer>::add_target(const Symbol* target, const std::uint32_t* lm_words, ScoredRule& rule) {
  rule.symbols = static_cast<std::uint32_t>(symbols_.size());
  symbols_.resize(symbols_.size() + rule.begins + rule.length);
  Symbol* out = symbols_.data() + rule.symbols;
  if (rule.begins) *out++ = kSentenceBegin;
  for (std::uint32_t at = 0; at < rule.length; ++at) {
    Symbol symbol = target[at];
    if (symbol >= 0) {
      ++rule.words;
      symbol = lm_words ? static_cast<Symbol>(lm_words[symbol]) : 0;
      if (symbol == 0) ++rule.unknown;
    }
    *out++ = symbol;
  }
  if (rule.words == rule.length) {
    rule.state = static_cast<std::uint32_t>(rule_states_.size());
    rule_states_.emplace_back();
    rule_targets_.push_back(target);
    const State* none[2] = {nullptr, nullptr};
    rule.lm_score = scorer_.combine(symbols_.data() + rule.symbols, rule.length, none, rule_states_.back());
    return;
  }
  Shape shape{kEmpty, kEmpty, kEmpty, kEmpty, kEmpty, 0, kEmpty, target};
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
    const Piece& words = piece(start, at - start);
    rule.lm_score += words.lm_score;
    if (shape.first == kEmpty) {
      shape.before = words.halves.right;
    } else if (at == end) {
      shape.after = words.halves.left;
    } else {
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
const typename CubePruner<Scorer>::Piece& CubePruner<Scorer>::piece(std::uint32_t symbols, std::uint32_t length) {
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
    if (known.length == length && std::equal(words, words + length, symbols_.data() + known.symbols)) return known;
  }
  piece_slots_[slot] = static_cast<std::uint32_t>(pieces_.size());
  State state;
  const State* const none[2] = {nullptr, nullptr};
  const float lm_score = scorer_.combine(words, length, none, state);
  pieces_.push_back({symbols, length, lm_score, joints_.number(state)});
  if (2 * pieces_.size() > piece_slots_.size()) {
    piece_slots_.assign(2 * piece_slots_.size(), kEmpty);
    for (std::uint32_t at = 0; at < pieces_.size(); ++at) {
      slot = hash_of(symbols_.data() + pieces_[at].symbols, pieces_[at].length) & (piece_slots_.size() - 1);
      while (piece_slots_[slot] != kEmpty) slot = (slot + 1) & (piece_slots_.size() - 1);
      piece_slots_[slot] = at;
    }
  }
  return pieces_.back();
}

template <class Scorer>
std::uint32_t CubePruner<Scorer>::add_item(const Cube& cube, std::uint32_t rule, double score, std::uint32_t state) {
  items_.emplace_back();
  Item& item = items_.back();
  item.score = score;
  item.cube = &cube;
  item.rule = rule;
  item.state = state;
  item.whole_lm_score = 0;
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
        tails_meet(cube, shape) ? streams_.halves(streams_[first].vertex).right : shape.between_right;
    second = streams_.first(cube.tails[1 - shape.first], before, shape.after);
  }
  return add(cube, rule, first, second);
}

template <class Scorer>
double CubePruner<Scorer>::best_tails(const Cube& cube) const {
  double score = 0;
  for (std::uint32_t tail = 0; tail < cube.arity; ++tail) score += graph_->vertices[cube.tails[tail].begin].score;
  return score;
}

// A rule with non-terminals whose turn has not come yet.
template <class Scorer>
std::uint32_t CubePruner<Scorer>::add_unopened(const Cube& cube, std::uint32_t rule_at) {
  const ScoredRule& rule = graph_->rules[cube.rules.begin + rule_at];
  const double gain = gains_.expect(shapes_[rule.state].joints);
  return add_item(cube, rule_at, rule.estimate + best_tails(cube) + gain, kUnopened);
}

// Replaces the unopened rule on top of the queue by its first combination, and adds the cube's next rule.
template <class Scorer>
void CubePruner<Scorer>::open(const Cube& cube, std::uint32_t rule_at) {
  const ScoredRule& rule = graph_->rules[cube.rules.begin + rule_at];
  const Shape& shape = shapes_[rule.state];
  const std::uint32_t first =
      streams_.first(cube.tails[shape.first], shape.before, cube.arity == 2 ? shape.between_left : shape.after);
  const std::uint32_t id = add_first(cube, rule_at, first);
  gains_.learn(shape.joints, items_[id].score - rule.estimate - best_tails(cube));
  queue_.replace_top(items_[id].score, id);
  if (cube.rules.begin + rule_at + 1 == cube.rules.end) return;
  const std::uint32_t next = add_unopened(cube, rule_at + 1);
  queue_.push(items_[next].score, next);
}

template <class Scorer>
void CubePruner<Scorer>::prune(const std::vector<Cube>& cubes) {
  items_.clear();
  item_states_.clear();
  queue_.clear();
  found_.clear();
  slots_.assign(512, kEmpty);
  known_.clear();
  for (const Cube& cube : cubes) {
    const ScoredRule& rule = graph_->rules[cube.rules.begin];
    const std::uint32_t id =
        cube.arity ? add_unopened(cube, 0) : add_item(cube, 0, rule.estimate, kLexical | rule.state);
    queue_.push_unordered(items_[id].score, id);
  }
  queue_.restore_order();
  std::uint64_t pops = 0, repeated = 0;
  while (!queue_.empty() && pops < limit_) {
    const std::uint32_t id = queue_.top();
    Item& item = items_[id];
    if (item.state == kUnopened) {
      open(*item.cube, item.rule);
      continue;
    }
    if (limited_ && repeats(item)) {
      if (item.cube->arity == 0 || repeated++ < std::uint64_t{kRepeats} * limit_)
        push_successors(item);
      else
        queue_.pop();
      continue;
    }
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

// Words count by their own numbers, so that strings with different unknown words differ.
template <class Scorer>
Yield CubePruner<Scorer>::yield_of(const Item& item) {
  const ScoredRule& rule = rule_of(item);
  if (item.cube->arity == 0) {
    Yield yield;
    const Symbol* target = rule_targets_[rule.state];
    for (std::uint32_t at = 0; at < rule.length; ++at) yield.append(static_cast<std::uint32_t>(target[at]));
    return yield;
  }
  Shape& shape = shapes_[rule.state];
  if (shape.yields == kEmpty) {
    shape.yields = static_cast<std::uint32_t>(word_yields_.size());
    word_yields_.resize(word_yields_.size() + 3);
    Yield* words = &word_yields_[shape.yields];
    for (std::uint32_t at = 0; at < rule.length; ++at) {
      if (shape.target[at] < 0)
        ++words;
      else
        words->append(static_cast<std::uint32_t>(shape.target[at]));
    }
  }
  const Yield* words = &word_yields_[shape.yields];
  Yield yield = words[0];
  yield.append(yields_[streams_[item.entries[0]].vertex]);
  if (!words[1].empty()) yield.append(words[1]);
  if (item.cube->arity == 2) {
    yield.append(yields_[streams_[item.entries[1]].vertex]);
    if (!words[2].empty()) yield.append(words[2]);
  }
  return yield;
}

// Whether the cell has the combination's string already, with a derivation that is not worse.
template <class Scorer>
bool CubePruner<Scorer>::repeats(Item& item) {
  if (item.state != kEmpty && item.cube->arity > 0) {  // the model was asked, and the string may have come since
    const KnownYields::Known* known = known_.find(item.yield.hash);
    return known && item.score <= known->score + kRounding;
  }
  const ScoredRule& rule = rule_of(item);
  item.yield = yield_of(item);
  item.whole_lm_score = item.cube->arity ? 0 : rule.lm_score;
  double score = rule.score;
  for (std::uint32_t tail = 0; tail < item.cube->arity; ++tail) {
    const std::uint32_t vertex = streams_[item.entries[tail]].vertex;
    item.whole_lm_score += lm_scores_[vertex];
    score += graph_->vertices[vertex].score;
  }
  const KnownYields::Known* known = known_.find(item.yield.hash);
  if (!known) return false;
  const double added = item.cube->arity ? known->lm_score - item.whole_lm_score : item.whole_lm_score;
  return score + scorer_.weight() * added <= known->score + kRounding;
}

// Takes the combination off the queue and adds what follows it. Each combination has one predecessor only, so
// none is built twice.
template <class Scorer>
void CubePruner<Scorer>::push_successors(const Item& from) {
  const Cube& cube = *from.cube;
  const std::uint32_t rule = from.rule, first = from.entries[0], second = from.entries[1];  // `from` moves
  bool replaced = false;
  auto push = [&](std::uint32_t id) {
    if (replaced)
      queue_.push(items_[id].score, id);
    else
      queue_.replace_top(items_[id].score, id);
    replaced = true;
  };
  if (cube.arity == 0) {
    if (cube.rules.begin + rule + 1 < cube.rules.end) {
      const ScoredRule& next = graph_->rules[cube.rules.begin + rule + 1];
      push(add_item(cube, rule + 1, next.estimate, kLexical | next.state));
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
  if (!replaced) queue_.pop();
}

template <class Scorer>
void CubePruner<Scorer>::ask_model(Item& item) {
  const ScoredRule& rule = rule_of(item);
  std::uint32_t vertices[2];
  find_tails(item, rule, vertices);
  const State* tails[2] = {&states_[vertices[0]], &states_[vertices[1]]};
  double score = rule.score + graph_->vertices[vertices[0]].score;
  if (item.cube->arity == 2) score += graph_->vertices[vertices[1]].score;
  item.state = static_cast<std::uint32_t>(item_states_.size());
  item_states_.emplace_back();
  item.lm_score =
      scorer_.combine(symbols_.data() + rule.symbols, rule.length + rule.begins, tails, item_states_.back());
  item.score = score + scorer_.weight() * item.lm_score;
  item.whole_lm_score += item.lm_score;
}

// Makes a combination an edge of a new or known vertex.
template <class Scorer>
void CubePruner<Scorer>::accept(const Item& item) {
  const Cube& cube = *item.cube;
  const ScoredRule& rule = rule_of(item);
  Found& found = found_[recombine(item.state)];
  const std::uint32_t edge = static_cast<std::uint32_t>(graph_->edges.size());
  std::uint32_t tails[2] = {0, 0};
  if (cube.arity) find_tails(item, rule, tails);
  graph_->edges.push_back({item.score,
                           {tails[0], tails[1]},
                           cube.rules.begin + item.rule,
                           cube.arity ? item.lm_score : rule.lm_score,
                           cube.arity,
                           found.last_edge});
  if (item.score > found.score || found.last_edge == kNoEdge) {
    found.score = item.score;
    found.best_edge = edge;
    found.yield = item.yield;
    found.whole_lm_score = item.whole_lm_score;
  }
  found.last_edge = edge;
  if (limited_) known_.add({item.yield.hash, item.score, item.whole_lm_score});
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
  found_.push_back({0, hash, state_id, kNoEdge, kNoEdge, {}, 0});
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
    yields_.push_back(found.yield);
    lm_scores_.push_back(found.whole_lm_score);
    streams_.add_vertex(joints_.number(states_.back()));
  }
}

}  // namespace itersel
