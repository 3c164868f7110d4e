// A queue of numbered items, best score first, ties by the smaller number. Score and number share one 64-bit key (the
// score rounded to single precision), so that a comparison is one instruction.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

namespace itersel {

// An integer with the order of the numbers: also where a score is not a number, so that sorting stays safe.
inline std::uint64_t sortable(double score) {
  std::uint64_t bits;
  std::memcpy(&bits, &score, sizeof bits);
  return bits >> 63 ? ~bits : bits | 1ull << 63;
}

class BestFirstQueue {
 public:
  void clear() { keys_.clear(); }
  bool empty() const { return keys_.empty(); }
  std::uint32_t top() const { return ~static_cast<std::uint32_t>(keys_.front()); }

  // Without keeping the order: call restore_order before the next top.
  void push_unordered(double score, std::uint32_t item) { keys_.push_back(key(score, item)); }
  void restore_order() {
    for (std::size_t at = keys_.size() / 2; at-- > 0;) sift_down(at, keys_[at]);
  }

  void push(double score, std::uint32_t item) {
    std::uint64_t made = key(score, item);
    std::size_t at = keys_.size();
    keys_.push_back(made);
    while (at > 0) {
      std::size_t parent = (at - 1) / 2;
      if (keys_[parent] >= made) break;
      keys_[at] = keys_[parent];
      at = parent;
    }
    keys_[at] = made;
  }
  // Whether the first item would be the first with another score, too.
  bool stays_on_top(double score, std::uint32_t item) const {
    std::uint64_t made = key(score, item);
    return (keys_.size() < 2 || keys_[1] < made) && (keys_.size() < 3 || keys_[2] < made);
  }
  // Cheaper than pop and push.
  void replace_top(double score, std::uint32_t item) { sift_down(0, key(score, item)); }
  void pop() {
    std::uint64_t last = keys_.back();
    keys_.pop_back();
    if (!keys_.empty()) sift_down(0, last);
  }

 private:
  // Larger keys are better: a float's bits in sortable form, then the complement of the number.
  static std::uint64_t key(double score, std::uint32_t item) {
    float rounded = static_cast<float>(score);
    std::uint32_t bits;
    std::memcpy(&bits, &rounded, sizeof bits);
    bits = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    return static_cast<std::uint64_t>(bits) << 32 | static_cast<std::uint32_t>(~item);
  }

  void sift_down(std::size_t at, std::uint64_t moving) {
    std::uint64_t* keys = keys_.data();
    std::size_t size = keys_.size();
    for (std::size_t child; (child = 2 * at + 1) < size; at = child) {
      child += child + 1 < size && keys[child + 1] > keys[child];
      if (keys[child] <= moving) break;
      keys[at] = keys[child];
    }
    keys[at] = moving;
  }

  std::vector<std::uint64_t> keys_;
};

}  // namespace itersel
