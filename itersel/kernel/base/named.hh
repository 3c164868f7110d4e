// Choices that Python makes by name: a table of names and what they stand for.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/error.hh"

namespace itersel {

template <typename T>
struct Named {
  const char* name;
  T value;
};

// What `name` stands for. An unknown name is an InputError that lists the known ones; `what` says what is chosen.
template <typename T>
const T& find_named(const char* what, const std::vector<Named<T>>& table, const std::string& name) {
  std::string known;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (name == table[i].name) return table[i].value;
    if (i > 0) known += i + 1 < table.size() ? ", " : " and ";
    known += table[i].name;
  }
  throw InputError("", std::string("unknown ") + what + " '" + name + "'; there are " + known);
}

}  // namespace itersel
