#include "metrics/ter.hh"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace itersel {
namespace {

using Words = std::vector<std::uint32_t>;

// sacrebleu's limits, which are Tercom's except for the number of candidates.
constexpr int kMaxShiftLength = 10;
constexpr int kMaxShiftDistance = 50;
constexpr int kBeamWidth = 25;
constexpr int kMaxCandidates = 1000;
constexpr int kInfinity = 1 << 29;

enum class Edit : char { kNone, kMatch, kSubstitute, kDelete, kInsert };  // of hypothesis words, towards the reference

// Edit distances of hypotheses of one length from a reference, within a beam around the diagonal.
class EditDistance {
 public:
  EditDistance(const Words& reference, std::size_t hypothesis_length)
      : reference_(reference), length_(static_cast<int>(hypothesis_length)), rows_(hypothesis_length + 1) {
    const int width = static_cast<int>(reference.size()) + 1;
    const double ratio = length_ ? static_cast<double>(reference.size()) / length_ : 1;
    const int beam = kBeamWidth < ratio / 2 ? static_cast<int>(std::ceil(ratio / 2 + kBeamWidth)) : kBeamWidth;
    rows_[0] = {0, width, width, 1};
    for (int i = 1; i <= length_; ++i) {
      const int diagonal = static_cast<int>(std::floor(i * ratio));
      const int end = i == length_ ? width : std::min(width, diagonal + beam);
      rows_[i].begin = std::max(0, diagonal - beam);
      rows_[i].end = rows_[i].stop = end;
      rows_[i - 1].stop = std::max(rows_[i - 1].end, end);
    }
    std::ptrdiff_t cells = 0;
    for (Row& row : rows_) {
      row.base = cells + 1 - row.begin;
      cells += row.stop - row.begin + 1;
    }
    costs_.resize(static_cast<std::size_t>(cells));
    edits_.resize(costs_.size());
    variant_.resize(costs_.size());
    for (int j = 0; j < width; ++j) {
      costs_[at(0, j)] = j;
      edits_[at(0, j)] = Edit::kInsert;
    }
  }

  // The distance of `words`, whose table remains for edit() and distance_of_variant().
  int set(const Words& words) {
    for (int i = 1; i <= length_; ++i) fill<true>(words[i - 1], i, costs_, costs_);
    return costs_.back();
  }

  Edit edit(int i, int j) const { return edits_[at(i, j)]; }

  // The distance of other words of which the first `same` are those of set(); any number above `limit` if it exceeds
  // the limit.
  int distance_of_variant(const Words& words, int same, int limit) {
    if (same == length_) return costs_.back();
    for (int i = same + 1; i <= length_; ++i)
      if (fill<false>(words[i - 1], i, i == same + 1 ? costs_ : variant_, variant_) > limit) return limit + 1;
    return variant_.back();
  }

 private:
  // Columns begin … end - 1 of a row lie within the beam. The row is stored from begin - 1 to stop - 1, as far as the
  // next row looks; what lies outside the beam costs infinitely much.
  struct Row {
    int begin, end, stop;
    std::ptrdiff_t base;  // where column 0 is or would be
  };

  std::size_t at(int i, int j) const { return static_cast<std::size_t>(rows_[i].base + j); }

  // Fills row i from the row above it; returns its least cost, below which no distance through it can be.
  template <bool kWithEdits>
  int fill(std::uint32_t word, int i, const std::vector<int>& table_above, std::vector<int>& table) {
    const Row& row = rows_[i];
    const std::ptrdiff_t above = rows_[i - 1].base, own = row.base;
    int least = kInfinity, left = kInfinity;
    table[own + row.begin - 1] = kInfinity;
    for (int j = row.begin; j < row.end; ++j) {
      // Of equal costs, a match or substitution comes before a deletion, and this before an insertion.
      int cost = kInfinity;
      Edit edit = Edit::kNone;
      if (j > 0) {
        const bool same = word == reference_[j - 1];
        cost = table_above[above + j - 1] + (same ? 0 : 1);
        edit = same ? Edit::kMatch : Edit::kSubstitute;
      }
      if (table_above[above + j] + 1 < cost) {
        cost = table_above[above + j] + 1;
        edit = Edit::kDelete;
      }
      if (left + 1 < cost) {
        cost = left + 1;
        edit = Edit::kInsert;
      }
      table[own + j] = left = cost;
      if (kWithEdits) edits_[own + j] = edit;
      least = std::min(least, cost);
    }
    std::fill(table.begin() + own + row.end, table.begin() + own + row.stop, kInfinity);
    return least;
  }

  const Words& reference_;
  const int length_;
  std::vector<Row> rows_;
  std::vector<int> costs_, variant_;
  std::vector<Edit> edits_;
};

// Which words the least edits leave as they are, and where the hypothesis stands at each word of the reference.
struct Alignment {
  std::vector<int> hypothesis_errors, reference_errors;  // running sums, so that the errors of a span are a difference
  std::vector<int> positions;                            // per word of the reference; -1 before the hypothesis

  Alignment(const EditDistance& table, int hypothesis_length, int reference_length)
      : hypothesis_errors(hypothesis_length + 1), reference_errors(reference_length + 1), positions(reference_length) {
    for (int i = hypothesis_length, j = reference_length; i > 0 || j > 0;) {
      const Edit edit = table.edit(i, j);
      const int error = edit != Edit::kMatch;
      if (edit != Edit::kDelete) {
        positions[j - 1] = i - 1;
        reference_errors[j--] = error;
      }
      if (edit != Edit::kInsert) hypothesis_errors[i--] = error;
    }
    for (auto* errors : {&hypothesis_errors, &reference_errors})
      for (std::size_t at = 1; at < errors->size(); ++at) (*errors)[at] += (*errors)[at - 1];
  }
};

// Moves `length` words at `start` before the word at `target`, or behind the `target - start` words that follow them.
void move_words(const Words& words, int start, int length, int target, Words& moved) {
  moved = words;
  const auto begin = moved.begin();
  if (target < start)
    std::rotate(begin + target, begin + start, begin + start + length);
  else if (target > start + length)
    std::rotate(begin + start, begin + start + length, begin + target);
  else
    std::rotate(begin + start, begin + start + length,
                begin + std::min(static_cast<int>(words.size()), length + target));
}

struct Shift {
  int cost;  // edits that remain
  int length, start, target;

  // Fewer edits, then longer, then earlier, then to an earlier place.
  bool better_than(const Shift& other) const {
    if (cost != other.cost) return cost < other.cost;
    if (length != other.length) return length > other.length;
    return start != other.start ? start < other.start : target < other.target;
  }
};

// Edits that turn one hypothesis into one reference: shifts of words, chosen greedily, and the edits that remain.
class Edits {
 public:
  Edits(const Words& hypothesis, const Words& reference)
      : words_(hypothesis),
        reference_(reference),
        distance_(reference, hypothesis.size()),
        length_(static_cast<int>(hypothesis.size())),
        reference_length_(static_cast<int>(reference.size())) {}

  int count() {
    for (int shifts = 0;; ++shifts) {
      const int remaining = distance_.set(words_);
      Shift best{remaining, 0, 0, 0};
      find_shift(best);
      if (candidates_ >= kMaxCandidates || best.cost >= remaining) return shifts + remaining;
      move_words(words_, best.start, best.length, best.target, moved_);
      words_.swap(moved_);
    }
  }

 private:
  // Replaces `best` if there is a shift after which fewer edits remain.
  void find_shift(Shift& best) {
    const Alignment alignment(distance_, length_, reference_length_);
    for (int start = 0; start < length_; ++start) {
      const int first = std::max(0, start - kMaxShiftDistance);
      const int last = std::min(reference_length_ - 1, start + kMaxShiftDistance);
      for (int place = first; place <= last; ++place) {
        const int most = std::min({kMaxShiftLength, length_ - start, reference_length_ - place});
        for (int length = 1; length <= most && words_[start + length - 1] == reference_[place + length - 1]; ++length) {
          try_targets(alignment, start, place, length, best);
          if (candidates_ >= kMaxCandidates) return;
        }
      }
    }
  }

  // The words at `start` are those of the reference at `place`.
  void try_targets(const Alignment& alignment, int start, int place, int length, Shift& best) {
    const auto errors = [length](const std::vector<int>& sums, int at) { return sums[at + length] - sums[at]; };
    if (errors(alignment.hypothesis_errors, start) == 0 || errors(alignment.reference_errors, place) == 0) return;
    const int aligned = alignment.positions[place];
    if (start <= aligned && aligned < start + length) return;
    int last = -1;
    for (int at = place - 1; at < place + length; ++at) {
      const int target = at < 0 ? 0 : alignment.positions[at] + 1;
      if (target == last) continue;
      last = target;
      ++candidates_;
      Shift shift{0, length, start, target};
      move_words(words_, start, length, target, moved_);
      shift.cost = distance_.distance_of_variant(moved_, std::min(start, target), best.cost);
      if (shift.cost <= best.cost && shift.better_than(best)) best = shift;
    }
  }

  Words words_, moved_;
  const Words& reference_;
  EditDistance distance_;
  const int length_, reference_length_;
  int candidates_ = 0;
};

}  // namespace

double one_minus_ter(const Statistic* row) { return row[1] > 0 ? 1 - static_cast<double>(row[0]) / row[1] : 0; }

double corpus_ter(const double* sums) { return sums[1] > 0 ? sums[0] / sums[1] : sums[0] > 0; }

TerReferences::TerReferences(std::vector<Words> references) : references_(std::move(references)) {
  double total = 0;
  for (const Words& reference : references_) total += static_cast<double>(reference.size());
  if (!references_.empty()) mean_length_ = total / static_cast<double>(references_.size());
}

void TerReferences::count(const Words& words, Statistic* row) {
  std::size_t fewest = references_.empty() ? words.size() : static_cast<std::size_t>(kInfinity);
  for (const Words& reference : references_)
    fewest = std::min(fewest, static_cast<std::size_t>(Edits(words, reference).count()));
  row[0] = static_cast<Statistic>(fewest);
  row[1] = static_cast<Statistic>(mean_length_);
}

}  // namespace itersel
