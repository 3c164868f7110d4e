#include "grammar/suffix_array.hh"

#include <algorithm>
#include <stdexcept>

namespace itersel {
namespace {

using Symbols = std::vector<std::int32_t>;
constexpr std::int32_t kEmpty = -1;

// One level of the recursion. `text` ends in a unique smallest symbol 0.
class InducedSort {
 public:
  InducedSort(const Symbols& text, std::int32_t alphabet)
      : text_(text), size_(static_cast<std::int32_t>(text.size())), counts_(alphabet, 0), is_s_(text.size()) {
    for (std::int32_t symbol : text_) ++counts_[symbol];
    is_s_[size_ - 1] = true;
    for (std::int32_t i = size_ - 2; i >= 0; --i) {
      is_s_[i] = text_[i] < text_[i + 1] || (text_[i] == text_[i + 1] && is_s_[i + 1]);
    }
  }

  Symbols run() {
    Symbols order(size_, kEmpty);
    std::vector<std::int32_t> leftmost;  // text positions of leftmost S-type suffixes, in text order
    for (std::int32_t i = 1; i < size_; ++i) {
      if (is_leftmost(i)) leftmost.push_back(i);
    }
    if (size_ == 1) return {0};
    place(order, leftmost);
    induce(order);
    place(order, sort_leftmost(order, leftmost));
    induce(order);
    return order;
  }

 private:
  bool is_leftmost(std::int32_t i) const { return i > 0 && is_s_[i] && !is_s_[i - 1]; }

  std::vector<std::int32_t> borders(bool ends) const {
    std::vector<std::int32_t> result(counts_.size());
    std::int32_t sum = 0;
    for (std::size_t symbol = 0; symbol < counts_.size(); ++symbol) {
      std::int32_t start = sum;
      sum += counts_[symbol];
      result[symbol] = ends ? sum : start;
    }
    return result;
  }

  void place(Symbols& order, const std::vector<std::int32_t>& leftmost) const {
    std::fill(order.begin(), order.end(), kEmpty);
    auto end = borders(true);
    for (auto i = leftmost.rbegin(); i != leftmost.rend(); ++i) order[--end[text_[*i]]] = *i;
  }

  void induce(Symbols& order) const {
    auto start = borders(false);
    for (std::int32_t i = 0; i < size_; ++i) {
      std::int32_t before = order[i] - 1;
      if (order[i] > 0 && !is_s_[before]) order[start[text_[before]]++] = before;
    }
    auto end = borders(true);
    for (std::int32_t i = size_ - 1; i >= 0; --i) {
      std::int32_t before = order[i] - 1;
      if (order[i] > 0 && is_s_[before]) order[--end[text_[before]]] = before;
    }
  }

  bool same_substring(std::int32_t a, std::int32_t b) const {
    for (std::int32_t i = 0;; ++i) {
      if (text_[a + i] != text_[b + i] || is_s_[a + i] != is_s_[b + i]) return false;
      if (i > 0 && (is_leftmost(a + i) || is_leftmost(b + i))) return is_leftmost(a + i) && is_leftmost(b + i);
    }
  }

  // The leftmost S-type positions in the order of their suffixes: name the substrings, sort the names' text.
  std::vector<std::int32_t> sort_leftmost(const Symbols& order, const std::vector<std::int32_t>& leftmost) const {
    Symbols names(size_, kEmpty);
    std::int32_t name = -1, previous = -1;
    for (std::int32_t position : order) {
      if (!is_leftmost(position)) continue;
      if (previous < 0 || !same_substring(previous, position)) ++name;
      names[position] = name;
      previous = position;
    }
    Symbols reduced;
    reduced.reserve(leftmost.size());
    for (std::int32_t position : leftmost) reduced.push_back(names[position]);
    names = Symbols();
    Symbols ranks;
    if (name + 1 < static_cast<std::int32_t>(leftmost.size())) {
      ranks = InducedSort(reduced, name + 1).run();
    } else {
      ranks.resize(leftmost.size());
      for (std::size_t i = 0; i < reduced.size(); ++i) ranks[reduced[i]] = static_cast<std::int32_t>(i);
    }
    std::vector<std::int32_t> sorted;
    sorted.reserve(ranks.size());
    for (std::int32_t rank : ranks) sorted.push_back(leftmost[rank]);
    return sorted;
  }

  const Symbols& text_;
  std::int32_t size_;
  std::vector<std::int32_t> counts_;
  std::vector<bool> is_s_;
};

}  // namespace

std::vector<std::uint32_t> suffix_array(const std::vector<std::uint32_t>& text, std::uint32_t alphabet) {
  if (text.size() >= INT32_MAX - 1) throw std::length_error("suffix_array: text of 2^31 symbols or more");
  Symbols symbols(text.begin(), text.end());
  symbols.push_back(0);
  Symbols order = InducedSort(symbols, static_cast<std::int32_t>(alphabet)).run();
  return std::vector<std::uint32_t>(order.begin() + 1, order.end());
}

}  // namespace itersel
