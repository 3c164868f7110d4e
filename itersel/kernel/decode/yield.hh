// A hash of a string of words: a polynomial in a fixed base, modulo 2^64, with the base's power, so that the hash of a
// concatenation follows from those of its parts. Equal hashes are taken for equal strings: among n strings of a cell,
// two different ones share a hash with a probability of about n² / 2^65.
#pragma once

#include <cstdint>

namespace itersel {

struct Yield {
  std::uint64_t hash = 0, power = 1;

  void append(const Yield& other) {
    hash = hash * other.power + other.hash;
    power *= other.power;
  }
  void append(std::uint32_t word) {
    hash = hash * kBase + mixed(word);
    power *= kBase;
  }

 private:
  static constexpr std::uint64_t kBase = 0xD1342543DE82EF95ull;  // odd

  // Words' numbers differ in few bits; their coefficients in about half.
  static std::uint64_t mixed(std::uint32_t word) {
    std::uint64_t bits = (word + std::uint64_t{1}) * 0x9E3779B97F4A7C15ull;
    bits = (bits ^ bits >> 32) * 0xBF58476D1CE4E5B9ull;
    return bits ^ bits >> 29;
  }
};

}  // namespace itersel
