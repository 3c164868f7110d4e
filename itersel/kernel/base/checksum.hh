// A 64-bit checksum of a byte string, eight bytes at a time in four independent lanes. It finds damage, not malice.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/hash.hh"

namespace itersel {

inline std::uint64_t checksum(std::string_view bytes) {
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15ull;
  std::uint64_t lanes[4] = {1, 2, 3, 4};
  auto word_at = [](const char* at) {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    return word;
  };
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 32; at += 32, left -= 32) {
    for (int lane = 0; lane < 4; ++lane) {
      lanes[lane] = (lanes[lane] ^ word_at(at + 8 * lane)) * kMultiplier;
      lanes[lane] ^= lanes[lane] >> 29;
    }
  }
  char tail[32] = {};
  if (left) std::memcpy(tail, at, left);
  std::uint64_t total = mix_bits(bytes.size());
  for (int lane = 0; lane < 4; ++lane) total = mix_bits(total ^ (lanes[lane] ^ word_at(tail + 8 * lane)) * kMultiplier);
  return total;
}

}  // namespace itersel
