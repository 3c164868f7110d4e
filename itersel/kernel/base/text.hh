// Cutting lines, fields and tokens out of text without copying; numbers.
#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace itersel {

inline bool is_space(char letter) { return letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n'; }

inline std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// At most 60 bytes in quotes, for messages; cut between UTF-8 characters.
inline std::string quoted(std::string_view text) {
  std::size_t length = text.size();
  if (length > 60)
    for (length = 60; length > 0 && (text[length] & 0xC0) == 0x80;) --length;
  return "'" + std::string(text.substr(0, length)) + (length < text.size() ? "…'" : "'");
}

// Takes the first line, without its line feed, off `rest`.
inline std::string_view next_line(std::string_view& rest) {
  const void* found = std::memchr(rest.data(), '\n', rest.size());
  std::size_t length = found ? static_cast<std::size_t>(static_cast<const char*>(found) - rest.data()) : rest.size();
  std::string_view line = rest.substr(0, length);
  rest.remove_prefix(found ? length + 1 : length);
  return line;
}

// Takes the next token between blanks off `rest`; false at the end.
inline bool next_token(std::string_view& rest, std::string_view& token) {
  const char *at = rest.data(), *end = at + rest.size();
  while (at != end && is_space(*at)) ++at;
  if (at == end) return false;
  const char* start = at;
  while (at != end && !is_space(*at)) ++at;
  token = {start, static_cast<std::size_t>(at - start)};
  rest = {at, static_cast<std::size_t>(end - at)};
  return true;
}

inline std::vector<std::string_view> split_words(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::string_view token; next_token(line, token);) words.push_back(token);
  return words;
}

// Bytes of the UTF-8 character at `text`, 0 if it is none.
inline std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool surrogate = first == 0xED && byte(1) > 0x9F, beyond = first == 0xF4 && byte(1) > 0x8F;
  return overlong || surrogate || beyond ? 0 : length;
}

// Splits at `|||` tokens, trimmed. Stores up to N fields and returns their number, N + 1 if there are more.
template <std::size_t N>
std::size_t split_fields(std::string_view line, std::string_view (&fields)[N]) {
  std::size_t count = 0;
  const char *start = line.data(), *end = start + line.size(), *at = start;
  while (true) {
    const char* bar = static_cast<const char*>(std::memchr(at, '|', static_cast<std::size_t>(end - at)));
    bool separator = bar && end - bar >= 3 && bar[1] == '|' && bar[2] == '|' &&
                     (bar == line.data() || is_space(bar[-1])) && (end - bar == 3 || is_space(bar[3]));
    if (bar && !separator) {
      at = bar + 1;
      continue;
    }
    if (count == N) return N + 1;
    const char* stop = bar ? bar : end;
    fields[count++] = trim({start, static_cast<std::size_t>(stop - start)});
    if (!bar) return count;
    start = at = bar + 3;
  }
}

// As memcmp says, without a call: for short texts.
inline bool same_bytes(const char* a, const char* b, std::size_t size) {
  if (size < 8) {
    for (std::size_t at = 0; at < size; ++at)
      if (a[at] != b[at]) return false;
    return true;
  }
  std::uint64_t x, y;
  for (std::size_t at = 0; at + 8 < size; at += 8) {
    std::memcpy(&x, a + at, 8);
    std::memcpy(&y, b + at, 8);
    if (x != y) return false;
  }
  std::memcpy(&x, a + size - 8, 8);
  std::memcpy(&y, b + size - 8, 8);
  return x == y;
}

// The whole of `text` as a finite number.
template <class Number>
bool parse_number(std::string_view text, Number& value) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
}

// Whether the eight bytes, in the order of the text, are all digits; and their number if so.
inline bool eight_digits(const char* text, std::uint64_t& number) {
  std::uint64_t bytes;
  std::memcpy(&bytes, text, sizeof bytes);
  constexpr std::uint64_t kZeros = 0x3030303030303030ull, kHighHalves = 0xF0F0F0F0F0F0F0F0ull;
  if (((bytes & kHighHalves) ^ kZeros) | (((bytes + 0x0606060606060606ull) & kHighHalves) ^ kZeros)) return false;
  bytes -= kZeros;
  bytes = bytes * 10 + (bytes >> 8);  // pairs of digits, in every other byte
  constexpr std::uint64_t kPairs = 0x000000FF000000FFull;
  number = ((bytes & kPairs) * (100 + (1000000ull << 32)) + ((bytes >> 16) & kPairs) * (1 + (10000ull << 32))) >> 32;
  return true;
}

// Reads digits with an optional minus sign and point, and returns where they end. Null if there is no digit, or if the
// number is too long for the short way: digits and power of ten must be exact as doubles, so that the quotient is right
// to the last bit.
inline const char* read_decimal(const char* at, const char* end, double& value) {
  static constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                       1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  constexpr std::ptrdiff_t kMaxDigits = 19, kMaxFraction = 22;  // 64 bits; the largest exact power of ten
  const bool negative = at != end && *at == '-';
  if (negative) ++at;
  std::uint64_t digits = 0, eight;
  const char* const start = at;
  for (; at != end && *at >= '0' && *at <= '9'; ++at) digits = 10 * digits + static_cast<unsigned>(*at - '0');
  std::ptrdiff_t count = at - start, fraction = 0;
  if (at != end && *at == '.') {
    const char* const point = ++at;
    if constexpr (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
      for (; end - at >= 8 && eight_digits(at, eight); at += 8) digits = 100000000 * digits + eight;
    for (; at != end && *at >= '0' && *at <= '9'; ++at) digits = 10 * digits + static_cast<unsigned>(*at - '0');
    fraction = at - point;
    count += fraction;
  }
  if (count == 0 || count > kMaxDigits || fraction > kMaxFraction || digits > 1ull << 53) return nullptr;
  const double exact = static_cast<double>(digits) / kPowers[fraction];
  value = negative ? -exact : exact;
  return at;
}

// The whole of `text` as a number that is finite in single precision.
inline bool parse_float(std::string_view text, float& value) {
  const char* const end = text.data() + text.size();
  double number;
  if (read_decimal(text.data(), end, number) != end && !parse_number(text, number)) return false;
  value = static_cast<float>(number);
  return std::isfinite(value);
}

}  // namespace itersel
