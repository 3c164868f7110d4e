// K-best lists as Python has them: arrays.
#pragma once

#include <string>

#include "base/error.hh"
#include "bindings/module.hh"
#include "model/kbest_list.hh"

namespace itersel {

// A k-best list from arrays: hypothesis i has features[offsets[i] : offsets[i + 1]] and the values beside them.
inline KBestList list_of(const Array<std::int64_t>& offsets, const Array<std::uint32_t>& features,
                         const Array<double>& values, const Array<double>& scores) {
  const auto at = offsets.unchecked<1>();
  const auto feature = features.unchecked<1>();
  const auto value = values.unchecked<1>();
  const auto score = scores.unchecked<1>();
  if (at.shape(0) != score.shape(0) + 1 || feature.shape(0) != value.shape(0) || at(0) != 0 ||
      at(at.shape(0) - 1) != feature.shape(0))
    throw InputError("", "offsets, features, values and scores of the list do not fit together");
  KBestList list(static_cast<std::size_t>(score.shape(0)));
  for (pybind11::ssize_t i = 0; i < score.shape(0); ++i) {
    Hypothesis& hypothesis = list[static_cast<std::size_t>(i)];
    hypothesis.score = score(i);
    if (at(i) > at(i + 1)) throw InputError("", "the list's offsets do not ascend");
    for (pybind11::ssize_t k = at(i); k < at(i + 1); ++k) {
      if (k > at(i) && feature(k - 1) >= feature(k))
        throw InputError("", "the features of hypothesis " + std::to_string(i) + " do not ascend");
      if (value(k) != 0) hypothesis.features.push_back({feature(k), value(k)});
    }
  }
  return list;
}

}  // namespace itersel
