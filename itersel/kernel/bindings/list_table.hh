// A table of lists over an array's memory, which it keeps alive.
#pragma once

#include <utility>

#include "bindings/module.hh"
#include "lists/list_table.hh"

namespace itersel {

struct OwningTable {
  Array<unsigned char> memory;
  ListTable table;

  OwningTable(Array<unsigned char> data, const Array<std::uint64_t>& offsets, const Array<std::uint64_t>& keys,
              std::uint32_t features)
      : memory(std::move(data)),
        table(memory.data(), static_cast<std::size_t>(memory.size()), vector_of(offsets), vector_of(keys), features) {}
};

}  // namespace itersel
