// Decimal text of feature values: twelve significant digits, shortest form, as in cdec's grammars.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>

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

constexpr std::size_t kNumberRoom = 24;

// Writes the number to `text`, which has kNumberRoom bytes, and returns its end. Scaling to an integer of twelve digits
// is off by less than a thousandth; where that could matter, and for very small or large numbers, the library decides.
inline char* write_number(double value, char* text) {
  value += 0.0;  // no negative zero
  if (value == 0 || value == 1) {
    *text = value == 0 ? '0' : '1';
    return text + 1;
  }
  constexpr double kPowers[] = {1e-4, 1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3, 1e4};
  constexpr double kScales[] = {1e15, 1e14, 1e13, 1e12, 1e11, 1e10, 1e9, 1e8};
  if (value >= kPowers[0] && value < kPowers[8]) {
    int exponent = value >= 1 ? 4 : 0;
    while (value >= kPowers[exponent + 1]) ++exponent;
    const double scaled = value * kScales[exponent];
    auto digits = static_cast<std::uint64_t>(scaled);
    const double rest = scaled - static_cast<double>(digits);
    digits += rest > 0.5 ? 1 : 0;
    if ((rest < 0.499 || rest > 0.501) && digits < 1'000'000'000'000) {
      exponent -= 4;
      char all[kPrintedDigits];
      for (int i = kPrintedDigits; i > 0; digits /= 100) {
        const auto two = static_cast<unsigned>(digits % 100);
        all[--i] = static_cast<char>('0' + two % 10);
        all[--i] = static_cast<char>('0' + two / 10);
      }
      int size = kPrintedDigits;
      while (all[size - 1] == '0') --size;
      if (exponent < 0) {
        std::memcpy(text, "0.000", 5);
        text += 1 - exponent;
        std::memcpy(text, all, kPrintedDigits);
        return text + size;
      }
      const int whole = exponent + 1;
      std::memcpy(text, all, static_cast<std::size_t>(whole));
      if (size <= whole) return text + whole;
      text[whole] = '.';
      std::memcpy(text + whole + 1, all + whole, static_cast<std::size_t>(kPrintedDigits - whole));
      return text + size + 1;
    }
  }
  return std::to_chars(text, text + kNumberRoom, value, std::chars_format::general, kPrintedDigits).ptr;
}

}  // namespace itersel
