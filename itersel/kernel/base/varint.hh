// Unsigned numbers in as few bytes as they need, seven bits a byte, least significant first; and columns of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace itersel {

inline void append_varint(std::string& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  bytes += static_cast<char>(value);
}

// Reads on to the end and never beyond it: what is missing or too large for 32 bits reads as 0 and makes `good` false.
class VarintReader {
 public:
  VarintReader() = default;
  explicit VarintReader(std::string_view bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  std::uint32_t next() {
    std::uint32_t value = 0;
    for (unsigned shift = 0; at_ != end_ && shift < 35; shift += 7) {
      const auto byte = static_cast<unsigned char>(*at_++);
      if (shift == 28 && byte > 0x0F) break;
      value |= static_cast<std::uint32_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    good_ = false;
    return 0;
  }

  // How many things follow, each of which takes at least one byte of this column.
  std::uint32_t count() {
    const std::uint32_t value = next();
    if (value <= left()) return value;
    good_ = false;
    return 0;
  }

  // The next bytes as they are.
  std::string_view bytes(std::size_t size) {
    if (size > left()) {
      good_ = false;
      return {};
    }
    at_ += size;
    return {at_ - size, size};
  }

  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  bool good() const { return good_; }
  // Everything was there, and nothing is left.
  bool complete() const { return good_ && at_ == end_; }

 private:
  const char *at_ = nullptr, *end_ = nullptr;
  bool good_ = true;
};

}  // namespace itersel
