// Suffix array of an integer text in linear time, by induced sorting (Nong, Zhang & Chan 2009).
#pragma once

#include <cstdint>
#include <vector>

namespace itersel {

// Start positions of all suffixes of `text` in ascending order; a suffix that is a prefix of another comes first.
// Symbols lie in [1, alphabet); 0 is reserved. Equal cost for any text, however repetitive.
std::vector<std::uint32_t> suffix_array(const std::vector<std::uint32_t>& text, std::uint32_t alphabet);

}  // namespace itersel
