#include "metrics/chrf.hh"

#include <algorithm>
#include <array>
#include <utility>

namespace itersel {
namespace {

constexpr double kBeta = 2;

bool is_space(std::uint32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x1f);
  return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
         c == 0x202f || c == 0x205f || c == 0x3000;
}

std::uint32_t ngrams_in(std::size_t length, int n) {
  return length >= static_cast<std::size_t>(n) ? static_cast<std::uint32_t>(length - n + 1) : 0;
}

template <typename T>
double f_score(const T* triples) {
  double precision = 0, recall = 0;
  int orders = 0;
  for (int n = 0; n < kChrfOrder; ++n) {
    const double hypothesis = triples[3 * n], reference = triples[3 * n + 1], matches = triples[3 * n + 2];
    if (hypothesis == 0 || reference == 0) continue;
    precision += matches / hypothesis;
    recall += matches / reference;
    ++orders;
  }
  if (precision + recall == 0) return 0;
  precision /= orders;
  recall /= orders;
  constexpr double factor = kBeta * kBeta;
  return (1 + factor) * precision * recall / (factor * precision + recall);
}

}  // namespace

void append_characters(std::string_view text, std::vector<std::uint32_t>* characters) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::size_t extra = byte < 0x80             ? 0
                              : (byte & 0xe0) == 0xc0 ? 1
                              : (byte & 0xf0) == 0xe0 ? 2
                              : (byte & 0xf8) == 0xf0 ? 3
                                                      : text.size();
    std::uint32_t c = byte;
    bool valid = i + extra < text.size();
    if (valid && extra > 0) {
      c = byte & (0x3fu >> extra);
      for (std::size_t k = 1; k <= extra; ++k) {
        const auto next = static_cast<unsigned char>(text[i + k]);
        valid = valid && (next & 0xc0) == 0x80;
        c = c << 6 | (next & 0x3f);
      }
    }
    i += valid ? extra + 1 : 1;
    if (!valid) c = 0xfffd;
    if (!is_space(c)) characters->push_back(c);
  }
}

double chrf(const Statistic* row) { return f_score(row); }

double chrf(const double* sums) { return f_score(sums); }

ChrfReferences::ChrfReferences(const std::vector<std::vector<std::uint32_t>>& references, WordLookup lookup)
    : lookup_(std::move(lookup)) {
  for (const auto& words : references) {
    std::vector<std::uint32_t> characters = characters_of(words);
    const std::size_t length = characters.size();
    references_.push_back({length, NgramTable({std::move(characters)}, kChrfOrder)});
  }
}

std::vector<std::uint32_t> ChrfReferences::characters_of(const std::vector<std::uint32_t>& words) const {
  std::vector<std::uint32_t> characters;
  for (const std::uint32_t word : words) append_characters(lookup_(word), &characters);
  return characters;
}

void ChrfReferences::count(const std::vector<std::uint32_t>& words, Statistic* row) {
  const std::vector<std::uint32_t> characters = characters_of(words);
  std::fill(row, row + kChrfWidth, Statistic{0});
  double best = -1;
  for (Reference& reference : references_) {
    std::array<std::uint32_t, kChrfOrder> matches{};
    reference.ngrams.match(characters.data(), characters.size(), matches.data());
    std::array<Statistic, kChrfWidth> counts;
    for (int n = 1; n <= kChrfOrder; ++n) {
      const std::uint32_t in_reference = ngrams_in(reference.length, n);
      Statistic* triple = counts.data() + 3 * (n - 1);
      triple[0] = static_cast<Statistic>(in_reference > 0 ? ngrams_in(characters.size(), n) : 0);
      triple[1] = static_cast<Statistic>(in_reference);
      triple[2] = static_cast<Statistic>(matches[n - 1]);
    }
    const double score = chrf(counts.data());
    if (score <= best) continue;
    best = score;
    std::copy(counts.begin(), counts.end(), row);
  }
}

}  // namespace itersel
