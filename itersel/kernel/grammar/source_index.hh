// The source sides of a sentence's rules as a trie, for matching while parsing, with the rules grouped by
// (source side, left-hand side): a group is one dimension of a cube.
#pragma once

#include <cstdint>
#include <vector>

#include "grammar/rules.hh"

namespace itersel {

struct RuleGroup {
  std::uint32_t lhs;
  std::uint32_t begin, end;  // into SourceIndex::rules
};

class SourceIndex {
 public:
  static constexpr std::uint32_t kRoot = 0, kNone = 0xFFFFFFFFu;

  SourceIndex() { clear(); }
  void clear();

  // Adds the rules given by ids into `table`, which must come pattern by pattern.
  void add(const RuleTable& table, const std::uint32_t* rules, std::size_t count);

  // Labels in the order in which a cell must be finished: before a label all it derives from by unary rules. A unary
  // rule that would close a cycle does not apply. `extra` adds one unary edge (from, to), the glue rule's, which always
  // applies: the walk starts at its `to`, the goal.
  void order_labels(const StringTable& labels, Range extra);

  std::uint32_t child(std::uint32_t node, Symbol symbol) const {
    std::uint64_t key = edge_key(node, symbol);
    for (std::uint64_t slot = slot_of(key);; slot = (slot + 1) & mask_) {
      if (edges_[slot].key == key) return edges_[slot].child;
      if (edges_[slot].key == kEmpty) return kNone;
    }
  }
  bool has_word_child(std::uint32_t node) const { return nodes_[node].word_child; }
  bool has_nonterminal_child(std::uint32_t node) const { return nodes_[node].nonterminal_child; }
  Range groups_of(std::uint32_t node) const { return {nodes_[node].first_group, nodes_[node].end_group}; }

  // Whether there is a rule, of whatever label, with this word alone as its source side.
  bool has_rule_for(Symbol word) const {
    const std::uint32_t node = child(kRoot, word);
    return node != kNone && nodes_[node].first_group < nodes_[node].end_group;
  }

  const RuleGroup& group(std::uint32_t id) const { return groups_[id]; }
  std::uint32_t group_count() const { return static_cast<std::uint32_t>(groups_.size()); }
  std::uint32_t rule(std::uint32_t position) const { return rules_[position]; }

  // Whether a rule has the label, on the left-hand side or in its source side.
  bool mentions(std::uint32_t label) const { return label < mentioned_.size() && mentioned_[label]; }

  const std::vector<std::uint32_t>& label_order() const { return label_order_; }
  std::uint32_t label_rank(std::uint32_t label) const { return label_rank_[label]; }

 private:
  static constexpr std::uint64_t kEmpty = ~0ull;
  struct Edge {
    std::uint64_t key;
    std::uint32_t child;
  };
  struct Node {
    std::uint32_t first_group = 0, end_group = 0;
    bool word_child = false, nonterminal_child = false;
  };
  static std::uint64_t edge_key(std::uint32_t node, Symbol symbol) {
    return static_cast<std::uint64_t>(node) << 32 | static_cast<std::uint32_t>(symbol);
  }
  std::uint64_t slot_of(std::uint64_t key) const { return (key * 0x9E3779B97F4A7C15ull >> 32) & mask_; }
  std::uint32_t insert(std::uint32_t node, Symbol symbol);
  void grow();
  void mention(std::uint32_t label);

  std::vector<Edge> edges_;
  std::uint64_t mask_ = 0;
  std::size_t edge_count_ = 0;
  std::vector<Node> nodes_;
  std::vector<RuleGroup> groups_;
  std::vector<std::uint32_t> rules_;
  std::vector<std::uint32_t> label_order_, label_rank_;
  std::vector<char> mentioned_;  // by label
};

}  // namespace itersel
