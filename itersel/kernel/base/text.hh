// Cutting lines, fields and tokens out of text without copying; numbers.
#pragma once

#include <charconv>
#include <cmath>
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

// The whole of `text` as a finite number.
template <class Number>
bool parse_number(std::string_view text, Number& value) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
}

// Digits with an optional sign and point take a short way, exact because both parts fit a double; the rest goes to
// from_chars.
inline bool parse_float(std::string_view text, float& value) {
  static constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                       1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
  const char *at = text.data(), *end = at + text.size();
  bool negative = at != end && *at == '-';
  if (negative) ++at;
  unsigned long long digits = 0;
  int count = 0, fraction = 0;
  for (; at != end && *at >= '0' && *at <= '9'; ++at, ++count) digits = 10 * digits + static_cast<unsigned>(*at - '0');
  if (at != end && *at == '.') {
    const char* point = ++at;
    for (; at != end && *at >= '0' && *at <= '9'; ++at, ++count)
      digits = 10 * digits + static_cast<unsigned>(*at - '0');
    fraction = static_cast<int>(at - point);
  }
  if (at == end && count > 0 && count <= 15) {
    double exact = static_cast<double>(digits) / kPowers[fraction];
    value = static_cast<float>(negative ? -exact : exact);
    return true;
  }
  double general;
  if (!parse_number(text, general)) return false;
  value = static_cast<float>(general);
  return std::isfinite(value);
}

}  // namespace itersel
