// The 64-bit feature id of a name, and the integer mixer it shares with the random generator.
// Ids travel between machines, so the function is part of the file formats: never change it.
#pragma once

#include <cstdint>
#include <string_view>

namespace itersel {

// Fowler-Noll-Vo hash 1a, 64 bits, of the bytes.
inline std::uint64_t fnv1a(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
  return hash;
}

// MurmurHash3's 64-bit finaliser: a bijection after which every input bit reaches every output bit.
inline std::uint64_t mix_bits(std::uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdu;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53u;
  return x ^ (x >> 33);
}

// Feature id of a UTF-8 name. FNV-1a alone leaves the high bits of short names poorly mixed, and ranges of ids are
// cut by the high bits; the finaliser mends that.
inline std::uint64_t feature_hash(std::string_view name) { return mix_bits(fnv1a(name)); }

}  // namespace itersel
