#include "grammar/source_index.hh"

#include <algorithm>

namespace itersel {

void SourceIndex::clear() {
  edges_.assign(64, {kEmpty, 0});
  mask_ = 63;
  edge_count_ = 0;
  nodes_.assign(1, Node());
  groups_.clear();
  rules_.clear();
  mentioned_.clear();
}

void SourceIndex::mention(std::uint32_t label) {
  if (label >= mentioned_.size()) mentioned_.resize(label + 1, 0);
  mentioned_[label] = 1;
}

void SourceIndex::grow() {
  std::vector<Edge> old(2 * edges_.size(), {kEmpty, 0});
  old.swap(edges_);
  mask_ = edges_.size() - 1;
  for (const Edge& edge : old) {
    if (edge.key == kEmpty) continue;
    std::uint64_t slot = slot_of(edge.key);
    while (edges_[slot].key != kEmpty) slot = (slot + 1) & mask_;
    edges_[slot] = edge;
  }
}

std::uint32_t SourceIndex::insert(std::uint32_t node, Symbol symbol) {
  std::uint32_t found = child(node, symbol);
  if (found != kNone) return found;
  if (2 * ++edge_count_ > edges_.size()) grow();
  std::uint64_t key = edge_key(node, symbol), slot = slot_of(key);
  while (edges_[slot].key != kEmpty) slot = (slot + 1) & mask_;
  std::uint32_t made = static_cast<std::uint32_t>(nodes_.size());
  edges_[slot] = {key, made};
  (symbol < 0 ? nodes_[node].nonterminal_child : nodes_[node].word_child) = true;
  nodes_.emplace_back();
  if (symbol < 0) mention(label_of(symbol));
  return made;
}

void SourceIndex::add(const RuleTable& table, const std::uint32_t* rules, std::size_t count) {
  rules_.reserve(rules_.size() + count);
  for (std::size_t first = 0, last; first < count; first = last) {
    std::uint32_t pattern_id = table.rules[rules[first]].pattern;
    for (last = first + 1; last < count && table.rules[rules[last]].pattern == pattern_id;) ++last;
    const Pattern& pattern = table.patterns[pattern_id];
    const Symbol* symbols = table.source(pattern);
    std::uint32_t node = kRoot;
    for (std::uint32_t at = 0; at < pattern.length; ++at) node = insert(node, symbols[at]);

    // Rules of one pattern, grouped by left-hand side in order of first appearance (nearly always there is one).
    std::uint32_t start = static_cast<std::uint32_t>(rules_.size());
    rules_.insert(rules_.end(), rules + first, rules + last);
    auto lhs_of = [&](std::uint32_t rule) { return table.rules[rule].lhs; };
    auto end = rules_.end();
    nodes_[node].first_group = static_cast<std::uint32_t>(groups_.size());
    for (auto at = rules_.begin() + start; at != end;) {
      std::uint32_t lhs = lhs_of(*at);
      auto next = std::stable_partition(at, end, [&](std::uint32_t rule) { return lhs_of(rule) == lhs; });
      groups_.push_back(
          {lhs, static_cast<std::uint32_t>(at - rules_.begin()), static_cast<std::uint32_t>(next - rules_.begin())});
      mention(lhs);
      at = next;
    }
    nodes_[node].end_group = static_cast<std::uint32_t>(groups_.size());
  }
}

void SourceIndex::order_labels(const StringTable& labels, Range extra) {
  std::uint32_t count = labels.size();
  std::vector<std::vector<std::uint32_t>> derives(count);  // label -> labels of its unary right-hand sides
  if (extra.begin < count && extra.end < count) derives[extra.end].push_back(extra.begin);
  for (std::uint32_t label = 0; label < count; ++label) {
    std::uint32_t node = child(kRoot, nonterminal(label));
    if (node == kNone) continue;
    Range groups = groups_of(node);
    for (std::uint32_t group = groups.begin; group < groups.end; ++group) derives[groups_[group].lhs].push_back(label);
  }
  std::vector<std::uint32_t> by_name(count);
  for (std::uint32_t label = 0; label < count; ++label) by_name[label] = label;
  auto name_less = [&](std::uint32_t a, std::uint32_t b) { return labels[a] < labels[b]; };
  std::sort(by_name.begin(), by_name.end(), name_less);
  std::stable_partition(by_name.begin(), by_name.end(), [&](std::uint32_t label) { return label == extra.end; });
  for (auto& list : derives) std::sort(list.begin(), list.end(), name_less);

  // Depth first from the goal, then by name: a label comes after everything it derives from, except along an edge back
  // into the path.
  label_order_.clear();
  label_rank_.assign(count, 0);
  std::vector<char> seen(count, 0);
  std::vector<std::pair<std::uint32_t, std::size_t>> stack;
  for (std::uint32_t start : by_name) {
    if (seen[start]) continue;
    seen[start] = 1;
    stack.push_back({start, 0});
    while (!stack.empty()) {
      auto& [label, next] = stack.back();
      if (next < derives[label].size()) {
        std::uint32_t below = derives[label][next++];
        if (!seen[below]) {
          seen[below] = 1;
          stack.push_back({below, 0});
        }
      } else {
        label_rank_[label] = static_cast<std::uint32_t>(label_order_.size());
        label_order_.push_back(label);
        stack.pop_back();
      }
    }
  }
}

}  // namespace itersel
