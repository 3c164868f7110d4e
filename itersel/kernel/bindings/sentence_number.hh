// Numbers of sentences that come from Python.
#pragma once

#include <cstdint>
#include <string>

#include "bindings/module.hh"
#include "shards/shard.hh"

namespace itersel {

inline std::uint32_t checked(const Shard& shard, std::uint32_t sentence) {
  if (sentence >= shard.size())
    throw pybind11::index_error("the shard has " + std::to_string(shard.size()) + " sentences");
  return sentence;
}

}  // namespace itersel
