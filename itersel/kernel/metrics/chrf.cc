#include "metrics/chrf.hh"

#include <algorithm>
#include <array>

namespace itersel {
namespace {

bool is_space(std::uint32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x1f);
  return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
         c == 0x202f || c == 0x205f || c == 0x3000;
}

std::uint32_t ngrams_in(std::size_t length, int n) {
  return length >= static_cast<std::size_t>(n) ? static_cast<std::uint32_t>(length - n + 1) : 0;
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

Chrf::Chrf(const std::vector<std::vector<std::uint32_t>>& references, WordLookup lookup) : lookup_(std::move(lookup)) {
  for (const auto& words : references) {
    std::vector<std::uint32_t> characters = characters_of(words);
    const std::size_t length = characters.size();
    references_.push_back({length, NgramTable({std::move(characters)}, kOrder)});
  }
}

std::vector<std::uint32_t> Chrf::characters_of(const std::vector<std::uint32_t>& words) const {
  std::vector<std::uint32_t> characters;
  for (const std::uint32_t word : words) append_characters(lookup_(word), &characters);
  return characters;
}

double Chrf::operator()(const std::vector<std::uint32_t>& words) {
  const std::vector<std::uint32_t> characters = characters_of(words);
  double best = 0;
  for (Reference& reference : references_) {
    std::array<std::uint32_t, kOrder> matches{};
    reference.ngrams.match(characters.data(), characters.size(), matches.data());
    double precision = 0, recall = 0;
    int orders = 0;
    for (int n = 1; n <= kOrder; ++n) {
      const std::uint32_t in_hypothesis = ngrams_in(characters.size(), n);
      const std::uint32_t in_reference = ngrams_in(reference.length, n);
      if (in_hypothesis == 0 || in_reference == 0) continue;
      precision += static_cast<double>(matches[n - 1]) / in_hypothesis;
      recall += static_cast<double>(matches[n - 1]) / in_reference;
      ++orders;
    }
    if (precision + recall == 0) continue;
    precision /= orders;
    recall /= orders;
    constexpr double factor = kBeta * kBeta;
    best = std::max(best, (1 + factor) * precision * recall / (factor * precision + recall));
  }
  return best;
}

}  // namespace itersel
