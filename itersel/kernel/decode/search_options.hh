// The limits of the search. All fields must be given: Python has the defaults.
#pragma once

#include <cstdint>

namespace itersel {

struct SearchOptions {
  std::uint32_t span_limit;  // words a rule may span; the glue rules and other rules of the goal are exempt
  std::uint32_t pop_limit;   // per span and label; 0 for no limit
};

}  // namespace itersel
