// Feature weights by name, and their text form: one `name value` per line, as cdec reads and writes it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_table.hh"

namespace itersel {

struct Weights {
  StringTable names;
  std::vector<double> values;  // by name id

  void set(std::string_view name, double value) {
    std::uint32_t id = names.intern(name);
    if (id == values.size()) values.push_back(0);
    values[id] = value;
  }
  double get(std::string_view name) const {
    std::uint32_t id = names.find(name);
    return id == StringTable::kNone ? 0 : values[id];
  }
};

// Reads lines `name value` (blanks or tabs; lines that start with `#` are comments). A name that comes twice, or a
// value that is no finite number, is an InputError with `path:line`.
std::shared_ptr<Weights> parse_weights(std::string_view text, const std::string& path);

// Non-zero weights by name in byte order, values in the shortest form that reads back exactly.
std::string write_weights(const Weights& weights);

}  // namespace itersel
