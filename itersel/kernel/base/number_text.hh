// Decimal text of feature values: twelve significant digits, shortest form, as in cdec's grammars.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/text.hh"

namespace itersel {

constexpr int kPrintedDigits = 12;

// The value that a reader of the printed number gets. Twelve digits are more than a single precision number has, so
// that it is the nearest one, unless the value lies next to the middle between two.
inline float as_printed(double value) {
  value += 0.0;  // no negative zero
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  constexpr std::int64_t kMiddle = std::int64_t{1} << 28, kNear = std::int64_t{1} << 17;
  const std::int64_t from_middle = static_cast<std::int64_t>(bits & (2 * kMiddle - 1)) - kMiddle;
  if (from_middle > kNear || from_middle < -kNear) return static_cast<float>(value);
  char text[24];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, kPrintedDigits);
  float read = 0;
  parse_float({text, static_cast<std::size_t>(end.ptr - text)}, read);
  return read;
}

// Remembers recent numbers: the values of a grammar repeat, and the conversion is its most expensive step.
class NumberText {
 public:
  NumberText() : slots_(kSlots) {}

  void append(double value, std::string& text) {
    value += 0.0;  // no negative zero
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    Slot& slot = slots_[(bits * 0x9E3779B97F4A7C15u) >> (64 - kLogSlots)];
    if (slot.bits != bits || slot.size == 0) {
      const auto end =
          std::to_chars(slot.text, slot.text + sizeof slot.text, value, std::chars_format::general, kPrintedDigits);
      slot.bits = bits;
      slot.size = static_cast<std::uint8_t>(end.ptr - slot.text);
    }
    text.append(slot.text, slot.size);
  }

 private:
  static constexpr int kLogSlots = 15;
  static constexpr std::size_t kSlots = std::size_t{1} << kLogSlots;
  struct Slot {
    std::uint64_t bits = 0;
    std::uint8_t size = 0;
    char text[23];
  };
  std::vector<Slot> slots_;
};

}  // namespace itersel
