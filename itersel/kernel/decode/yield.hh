// A hash of a string of words: polynomial, modulo 2^61 - 1, with the base's power, so that hashes can be concatenated.
#pragma once

#include <cstdint>

namespace itersel {

struct Yield {
  std::uint64_t hash = 0, power = 1;

  bool empty() const { return power == 1; }
  void append(const Yield& other) {
    hash = add(multiply(hash, other.power), other.hash);
    power = multiply(power, other.power);
  }
  void append(std::uint32_t word) {
    hash = add(multiply(hash, kBase), word + std::uint64_t{1});
    power = multiply(power, kBase);
  }

 private:
  static constexpr std::uint64_t kPrime = (1ull << 61) - 1, kBase = 0x1234567089ABCDEFull % kPrime;

  static std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    const std::uint64_t folded =
        static_cast<std::uint64_t>(product & kPrime) + static_cast<std::uint64_t>(product >> 61);
    return folded >= kPrime ? folded - kPrime : folded;
  }
  static std::uint64_t add(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t sum = a + b;
    return sum >= kPrime ? sum - kPrime : sum;
  }
};

}  // namespace itersel
