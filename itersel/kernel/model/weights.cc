#include "model/weights.hh"

#include <algorithm>
#include <charconv>

#include "base/error.hh"
#include "base/text.hh"

namespace itersel {
namespace {

constexpr const char* kOtherSystems = "; itersel convert reads weights of Moses and Joshua";

}  // namespace

std::shared_ptr<Weights> parse_weights(std::string_view text, const std::string& path) {
  auto weights = std::make_shared<Weights>();
  std::size_t line_number = 0;
  auto fail = [&](const std::string& message) { throw InputError(path + ":" + std::to_string(line_number), message); };
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = trim(next_line(rest));
    ++line_number;
    if (line.empty() || line.front() == '#') continue;
    std::string_view tokens = line, name, value, more;
    if (!next_token(tokens, name) || !next_token(tokens, value) || next_token(tokens, more))
      fail("expected 'name value', found " + quoted(line) + kOtherSystems);
    if (name.back() == '=') fail("the name " + quoted(name) + " ends with =" + kOtherSystems);
    double number;
    if (!parse_number(value, number)) fail("expected a finite number after the name, found " + quoted(value));
    std::uint32_t known = weights->names.size();
    if (weights->names.intern(name) < known) fail("the weight of " + quoted(name) + " is given twice");
    weights->values.push_back(number);
  }
  return weights;
}

std::string write_weights(const Weights& weights) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t id = 0; id < weights.names.size(); ++id)
    if (weights.values[id] != 0) order.push_back(id);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return weights.names[a] < weights.names[b]; });
  std::string text;
  for (std::uint32_t id : order) {
    char buffer[40];
    auto end = std::to_chars(buffer, buffer + sizeof buffer, weights.values[id]).ptr;
    (text += weights.names[id]) += ' ';
    text.append(buffer, end) += '\n';
  }
  return text;
}

}  // namespace itersel
