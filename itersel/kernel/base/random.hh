// Counter-based random numbers: draw k of a seed is a function of (seed, k) alone, the same on every platform.
#pragma once

#include <cstdint>

namespace itersel {

// SplitMix64 (Steele, Lea & Flood 2014) addressed by counter.
inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t counter) {
  std::uint64_t x = seed + (counter + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Draw from 0 … bound − 1 by multiplication of the high 32 bits (bias below bound / 2^32).
inline std::uint32_t random_below(std::uint64_t seed, std::uint64_t counter, std::uint32_t bound) {
  return static_cast<std::uint32_t>(((random_bits(seed, counter) >> 32) * bound) >> 32);
}

}  // namespace itersel
