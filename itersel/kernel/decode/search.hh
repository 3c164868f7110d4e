// Chart parsing with cube pruning (Chiang 2007), bottom up: spans by start from the right, by end from the left.
//
// Scorer is the language model's part: NgramScorer<Model> or NoScorer. A cell is the list of finished vertices of one
// (span, label), best first. Partial matches of source sides ("dotted" items) are kept per (start, end).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/error.hh"
#include "decode/cube.hh"
#include "decode/hypergraph.hh"
#include "decode/search_options.hh"
#include "grammar/problem.hh"

namespace itersel {

template <class Scorer>
class Search {
 public:
  Search(Scorer& scorer, const SearchOptions& options) : scorer_(scorer), options_(options), cubes_(scorer) {}

  // Fills `graph` with all derivations the pruned search keeps. The sentence must not be empty.
  void run(const Problem& problem, Hypergraph& graph);

 private:
  struct Cell {
    std::uint32_t label, begin, end;  // vertices
  };
  struct Dotted {
    std::uint32_t node;
    std::uint32_t arity;
    Tails tails[2];
  };

  // Where the span's lists are: the first row has all ends, the others only what the span limit allows.
  std::uint32_t at(std::uint32_t start, std::uint32_t end) const {
    return start == 0 ? end : length_ + 1 + (start - 1) * (band_ + 1) + (end - start);
  }
  void match(std::uint32_t start, std::uint32_t end);
  void advance(const Dotted& item, std::uint32_t node, const Tails* tails, std::uint32_t place);
  void complete(std::uint32_t node, std::uint32_t arity, const Tails* tails);
  void complete(std::uint32_t label, const Range& rules, std::uint32_t arity, const Tails* tails);
  void glue(std::uint32_t end);
  void finish_cells(std::uint32_t start, std::uint32_t end, bool with_grammar);
  bool search();
  bool finish_goal();
  bool has_goal_rules() const;
  Tails find(std::uint32_t place, std::uint32_t label) const;
  const Range& scored(std::uint32_t group);
  Range score_one(std::uint32_t rule, bool begins = false);
  void score(bool extra, std::uint32_t rule_id, bool begins = false);

  Scorer& scorer_;
  const SearchOptions options_;
  const Problem* problem_ = nullptr;
  Hypergraph* graph_ = nullptr;
  std::uint32_t length_ = 0, band_ = 0;
  CubePruner<Scorer> cubes_;
  std::vector<std::vector<Cell>> cells_;
  std::vector<std::vector<Dotted>> before_word_, before_nonterminal_;
  std::vector<std::vector<Cube>> completed_;  // by label: whole matches of the span at hand
  std::vector<Range> scored_;                 // by group: rules in the graph, best estimate first
  Range glue_first_{}, glue_next_{};
  bool goal_begins_ = false;  // <s> precedes whatever has the goal's label
  bool copy_known_ = false;   // copy words that a rule of another label translates
  bool held_back_ = false;    // whether there was such a word, and it was not copied
  bool goal_only_ = false;    // beyond the span limit, where only rules of the goal apply
};

template <class Scorer>
void Search<Scorer>::run(const Problem& problem, Hypergraph& graph) {
  problem_ = &problem;
  graph_ = &graph;
  copy_known_ = problem.pass_through_all;
  held_back_ = false;
  if (search()) return;
  copy_known_ = true;
  if (!held_back_ || !search())
    throw InputError("", "no rules lead to a translation of the whole sentence: try a higher span limit");
}

// Whether there is a derivation of the whole sentence.
template <class Scorer>
bool Search<Scorer>::search() {
  const Problem& problem = *problem_;
  Hypergraph& graph = *graph_;
  graph.clear();
  cubes_.start(graph, options_.pop_limit);
  length_ = static_cast<std::uint32_t>(problem.words.size());
  band_ = options_.span_limit ? std::min(length_, options_.span_limit) : length_;
  std::size_t places = length_ + 1 + static_cast<std::size_t>(length_) * (band_ + 1);
  for (auto* table : {&before_word_, &before_nonterminal_}) {
    if (table->size() < places) table->resize(places);
    for (std::size_t place = 0; place < places; ++place) (*table)[place].clear();
  }
  if (cells_.size() < places) cells_.resize(places);
  for (std::size_t place = 0; place < places; ++place) cells_[place].clear();
  completed_.resize(std::max(completed_.size(), problem.index->label_order().size()));
  scored_.assign(problem.index->group_count(), {kNoRule, kNoRule});
  goal_begins_ = problem.goal != problem.default_nonterminal && !problem.index->mentions(problem.goal);
  glue_first_ = score_one(problem.glue_first, goal_begins_);
  glue_next_ = score_one(problem.glue_next);

  for (std::uint32_t start = length_; start-- > 0;) {
    Dotted root{SourceIndex::kRoot, 0, {}};
    before_word_[at(start, start)].push_back(root);
    before_nonterminal_[at(start, start)].push_back(root);
    std::uint32_t last = std::min(length_, start + band_);
    for (std::uint32_t end = start + 1; end <= last; ++end) {
      match(start, end);
      finish_cells(start, end, true);
    }
    if (start > 0 || last == length_) continue;
    const bool with_grammar = has_goal_rules();
    goal_only_ = true;
    for (std::uint32_t end = last + 1; end <= length_; ++end) {
      if (with_grammar) match(0, end);
      finish_cells(0, end, with_grammar);
    }
    goal_only_ = false;
  }
  return finish_goal();
}

// Whether the grammar has rules of the goal, besides the glue rules.
template <class Scorer>
bool Search<Scorer>::has_goal_rules() const {
  for (std::uint32_t group = 0; group < problem_->index->group_count(); ++group)
    if (problem_->index->group(group).lhs == problem_->goal) return true;
  return false;
}

template <class Scorer>
Tails Search<Scorer>::find(std::uint32_t place, std::uint32_t label) const {
  for (const Cell& cell : cells_[place])
    if (cell.label == label) return {cell.begin, cell.end};
  return {0, 0};
}

// Extends the partial matches that end inside (start, end) to its end.
template <class Scorer>
void Search<Scorer>::match(std::uint32_t start, std::uint32_t end) {
  const SourceIndex& index = *problem_->index;
  Symbol word = static_cast<Symbol>(problem_->words[end - 1]);
  std::uint32_t place = at(start, end);
  for (const Dotted& item : before_word_[at(start, end - 1)]) {
    std::uint32_t node = index.child(item.node, word);
    if (node != SourceIndex::kNone) advance(item, node, nullptr, place);
  }
  for (std::uint32_t middle = std::max(start + 1, end > band_ ? end - band_ : 0); middle < end; ++middle) {
    const auto& cells = cells_[at(middle, end)];
    if (cells.empty()) continue;
    for (const Dotted& item : before_nonterminal_[at(start, middle)]) {
      for (const Cell& cell : cells) {
        std::uint32_t node = index.child(item.node, nonterminal(cell.label));
        if (node == SourceIndex::kNone) continue;
        Tails tails{cell.begin, cell.end};
        advance(item, node, &tails, place);
      }
    }
  }
  if (end > start + 1 || problem_->pass_through[start] == kNoRule) return;
  if (!copy_known_ && index.has_rule_for(word))
    held_back_ = true;
  else
    complete(problem_->default_nonterminal, score_one(problem_->pass_through[start]), 0, nullptr);
}

template <class Scorer>
void Search<Scorer>::advance(const Dotted& item, std::uint32_t node, const Tails* tails, std::uint32_t place) {
  Dotted next = item;
  next.node = node;
  if (tails) next.tails[next.arity++] = *tails;
  const SourceIndex& index = *problem_->index;
  if (index.has_word_child(node)) before_word_[place].push_back(next);
  if (index.has_nonterminal_child(node)) before_nonterminal_[place].push_back(next);
  complete(node, next.arity, next.tails);
}

template <class Scorer>
void Search<Scorer>::complete(std::uint32_t node, std::uint32_t arity, const Tails* tails) {
  Range groups = problem_->index->groups_of(node);
  for (std::uint32_t group = groups.begin; group < groups.end; ++group)
    if (!goal_only_ || problem_->index->group(group).lhs == problem_->goal)
      complete(problem_->index->group(group).lhs, scored(group), arity, tails);
}

template <class Scorer>
void Search<Scorer>::complete(std::uint32_t label, const Range& rules, std::uint32_t arity, const Tails* tails) {
  Cube cube{rules, arity, {{0, 0}, {0, 0}}};
  for (std::uint32_t tail = 0; tail < arity; ++tail) cube.tails[tail] = tails[tail];
  completed_[label].push_back(cube);
}

// S → S X at the sentence's start. S → X, a unary rule, comes when the cell's X is finished.
template <class Scorer>
void Search<Scorer>::glue(std::uint32_t end) {
  for (std::uint32_t middle = end > band_ ? end - band_ : 1; middle < end; ++middle) {
    Tails tails[2] = {find(at(0, middle), problem_->goal), find(at(middle, end), problem_->default_nonterminal)};
    if (tails[0].size() && tails[1].size()) complete(problem_->goal, glue_next_, 2, tails);
  }
}

// Prunes the cubes of each label of a span, in an order in which unary rules see finished cells.
template <class Scorer>
void Search<Scorer>::finish_cells(std::uint32_t start, std::uint32_t end, bool with_grammar) {
  const SourceIndex& index = *problem_->index;
  std::uint32_t place = at(start, end);
  if (start == 0) glue(end);
  for (std::uint32_t label : index.label_order()) {
    if (start == 0 && label == problem_->goal) {
      Tails below = find(place, problem_->default_nonterminal);
      if (below.size() && index.label_rank(problem_->default_nonterminal) < index.label_rank(label))
        complete(label, glue_first_, 1, &below);
    }
    if (completed_[label].empty()) continue;
    Cell cell{label, static_cast<std::uint32_t>(graph_->vertices.size()), 0};
    cubes_.prune(completed_[label]);
    completed_[label].clear();
    cell.end = static_cast<std::uint32_t>(graph_->vertices.size());
    cells_[place].push_back(cell);
    if (!with_grammar) continue;

    // The finished non-terminal can begin a longer match, or be rewritten by a unary rule.
    std::uint32_t node = index.child(SourceIndex::kRoot, nonterminal(label));
    if (node == SourceIndex::kNone) continue;
    Dotted item{node, 1, {{cell.begin, cell.end}, {0, 0}}};
    if (index.has_word_child(node)) before_word_[place].push_back(item);
    if (index.has_nonterminal_child(node)) before_nonterminal_[place].push_back(item);
    Range groups = index.groups_of(node);
    for (std::uint32_t group = groups.begin; group < groups.end; ++group) {
      std::uint32_t lhs = index.group(group).lhs;
      if (index.label_rank(label) < index.label_rank(lhs) && (!goal_only_ || lhs == problem_->goal))
        complete(lhs, scored(group), 1, item.tails);
    }
  }
}

template <class Scorer>
bool Search<Scorer>::finish_goal() {
  Tails tails = find(at(0, length_), problem_->goal);
  if (tails.size() == 0) return false;
  Vertex goal{0, kNoEdge, kNoEdge};
  for (std::uint32_t tail = tails.begin; tail < tails.end; ++tail) {
    float lm_score = scorer_.finish(cubes_.state(tail), goal_begins_);
    double score = graph_->vertices[tail].score + scorer_.weight() * lm_score;
    std::uint32_t edge = static_cast<std::uint32_t>(graph_->edges.size());
    graph_->edges.push_back({score, {tail, 0}, kNoRule, lm_score, 1, goal.last_edge});
    if (score > goal.score || goal.last_edge == kNoEdge) {
      goal.score = score;
      goal.best_edge = edge;
    }
    goal.last_edge = edge;
  }
  graph_->goal = static_cast<std::uint32_t>(graph_->vertices.size());
  graph_->vertices.push_back(goal);
  return true;
}

// The rules of a group with scores, best estimate first; computed when the group first matches.
template <class Scorer>
const Range& Search<Scorer>::scored(std::uint32_t group) {
  Range& range = scored_[group];
  if (range.begin != kNoRule) return range;
  const RuleGroup& rules = problem_->index->group(group);
  range.begin = static_cast<std::uint32_t>(graph_->rules.size());
  for (std::uint32_t position = rules.begin; position < rules.end; ++position)
    score(false, problem_->index->rule(position));
  range.end = static_cast<std::uint32_t>(graph_->rules.size());
  if (range.end - range.begin > 1)
    std::stable_sort(graph_->rules.begin() + range.begin, graph_->rules.begin() + range.end,
                     [](const ScoredRule& a, const ScoredRule& b) { return a.estimate > b.estimate; });
  return range;
}

template <class Scorer>
Range Search<Scorer>::score_one(std::uint32_t rule, bool begins) {
  std::uint32_t begin = static_cast<std::uint32_t>(graph_->rules.size());
  score(true, rule, begins);
  return {begin, begin + 1};
}

template <class Scorer>
void Search<Scorer>::score(bool extra, std::uint32_t rule_id, bool begins) {
  const RuleTable& table = problem_->table_of(extra);
  const Rule& rule = table.rules[rule_id];
  ScoredRule made{};
  made.rule = rule_id;
  made.extra = extra;
  made.length = rule.target_length;
  made.begins = begins;
  made.score = rule_score(table, rule, problem_->weights);
  cubes_.add_target(table.target(rule), problem_->lm_words, made);
  made.score += problem_->weights[problem_->features.word_penalty] * kWordPenalty * made.words;
  if (problem_->lm_words && made.unknown)
    made.score += problem_->weights[problem_->features.unknown_words] * made.unknown;
  made.estimate = made.score + scorer_.weight() * made.lm_score;
  graph_->rules.push_back(made);
}

}  // namespace itersel
