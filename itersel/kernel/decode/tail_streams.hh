// The vertices of a cell in the order in which they suit a place in a rule: by score plus what the language model adds
// at the words before and after the place. Streams are made as far as they are read, and shared by all rules with the
// same words there. The order is that of a window which moves down the cell: each step yields the best of the window.
#pragma once

#include <cstdint>
#include <vector>

#include "decode/hypergraph.hh"
#include "decode/joints.hh"

namespace itersel {

struct Tails {  // a finished cell: vertices, best first
  std::uint32_t begin, end;
  std::uint32_t size() const { return end - begin; }
};

template <class Scorer>
class TailStreams {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;

  struct Entry {
    double score;  // of the vertex, with both joints
    std::uint32_t vertex;
    std::uint32_t next;  // the next entry of the stream if it was made already
    std::uint32_t stream;
  };

  TailStreams(const Scorer& scorer, Joints<Scorer>& joints) : scorer_(scorer), joints_(joints) {}

  void start(const Hypergraph& graph) {
    graph_ = &graph;
    halves_.clear();
    streams_.clear();
    entries_.clear();
    slots_.assign(kFirstSlots, kNone);
  }

  // The halves of the graph's next vertex.
  void add_vertex(const Halves& halves) { halves_.push_back(halves); }
  const Halves& halves(std::uint32_t vertex) const { return halves_[vertex]; }

  // The first entry of a stream. `before` is the right half of what precedes, `after` the left half of what follows, or
  // kNone. The cell must not be empty.
  std::uint32_t first(const Tails& cell, std::uint32_t before, std::uint32_t after);
  // The entry after this one, or kNone.
  std::uint32_t next(std::uint32_t entry) {
    if (entries_[entry].next == kNone) {
      const std::uint32_t made = produce(entries_[entry].stream);
      entries_[entry].next = made;
    }
    return entries_[entry].next;
  }
  const Entry& operator[](std::uint32_t entry) const { return entries_[entry]; }
  bool is_first(std::uint32_t entry) const { return streams_[entries_[entry].stream].first == entry; }

 private:
  static constexpr std::uint32_t kWindow = 4;
  static constexpr std::size_t kFirstSlots = 1024;  // a power of two

  struct Stream {
    std::uint32_t cell, before, after;  // its key
    std::uint32_t unread, end;          // vertices that were not in the window yet
    std::uint32_t size;                 // of the window
    std::uint32_t hole;                 // the window's place to be filled, or kNone
    std::uint32_t first;
    struct {
      double score;
      std::uint32_t vertex;
    } window[kWindow];
  };

  static std::uint64_t hash(std::uint32_t cell, std::uint32_t before, std::uint32_t after) {
    constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15ull;
    return (((static_cast<std::uint64_t>(before) << 32 | after) * kMultiplier ^ cell) * kMultiplier) >> 32;
  }
  void fill(Stream& stream, std::uint32_t place);
  std::uint32_t produce(std::uint32_t stream);
  void grow();

  const Scorer& scorer_;
  Joints<Scorer>& joints_;
  const Hypergraph* graph_ = nullptr;
  std::vector<Halves> halves_;  // by vertex
  std::vector<Stream> streams_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> slots_;  // streams by their keys
};

template <class Scorer>
std::uint32_t TailStreams<Scorer>::first(const Tails& cell, std::uint32_t before, std::uint32_t after) {
  std::size_t slot = hash(cell.begin, before, after) & (slots_.size() - 1);
  for (; slots_[slot] != kNone; slot = (slot + 1) & (slots_.size() - 1)) {
    const Stream& known = streams_[slots_[slot]];
    if (known.cell == cell.begin && known.before == before && known.after == after) return known.first;
  }
  const std::uint32_t made = slots_[slot] = static_cast<std::uint32_t>(streams_.size());
  streams_.emplace_back();
  Stream& stream = streams_.back();
  stream.cell = cell.begin;
  stream.before = before;
  stream.after = after;
  stream.unread = cell.begin;
  stream.end = cell.end;
  stream.size = 0;
  stream.hole = kNone;
  // Without words around, the cell's own order is right.
  const std::uint32_t window = before == kNone && after == kNone ? 1 : kWindow;
  while (stream.size < window && stream.unread < stream.end) fill(stream, stream.size++);
  stream.first = produce(made);
  const std::uint32_t first = stream.first;
  if (2 * streams_.size() > slots_.size()) grow();
  return first;
}

// Reads the stream's next vertex into a place of the window.
template <class Scorer>
void TailStreams<Scorer>::fill(Stream& stream, std::uint32_t place) {
  const std::uint32_t vertex = stream.unread++;
  float joints = 0;
  if (stream.before != kNone) joints += joints_.joint(stream.before, halves_[vertex].left);
  if (stream.after != kNone) joints += joints_.joint(halves_[vertex].right, stream.after);
  stream.window[place].score = graph_->vertices[vertex].score + scorer_.weight() * joints;
  stream.window[place].vertex = vertex;
}

template <class Scorer>
std::uint32_t TailStreams<Scorer>::produce(std::uint32_t at) {
  Stream& stream = streams_[at];
  if (stream.hole != kNone) {
    if (stream.unread < stream.end)
      fill(stream, stream.hole);
    else
      stream.window[stream.hole] = stream.window[--stream.size];
    stream.hole = kNone;
  }
  if (stream.size == 0) return kNone;
  std::uint32_t best = 0;
  for (std::uint32_t place = 1; place < stream.size; ++place) {
    const auto &a = stream.window[place], &b = stream.window[best];
    if (a.score > b.score || (a.score == b.score && a.vertex < b.vertex)) best = place;
  }
  const std::uint32_t made = static_cast<std::uint32_t>(entries_.size());
  entries_.push_back({stream.window[best].score, stream.window[best].vertex, kNone, at});
  stream.hole = best;
  return made;
}

template <class Scorer>
void TailStreams<Scorer>::grow() {
  slots_.assign(2 * slots_.size(), kNone);
  for (std::uint32_t at = 0; at < streams_.size(); ++at) {
    std::size_t slot = hash(streams_[at].cell, streams_[at].before, streams_[at].after) & (slots_.size() - 1);
    while (slots_[slot] != kNone) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = at;
  }
}

}  // namespace itersel
