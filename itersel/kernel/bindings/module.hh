// Each room of the kernel that Python sees has a file here with one function; module.cc calls them all.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <vector>

namespace itersel {

// A C array of numbers; arrays of other types are converted.
template <typename T>
using Array = pybind11::array_t<T, pybind11::array::c_style | pybind11::array::forcecast>;

template <typename T>
pybind11::array_t<T> array_of(const std::vector<T>& values) {
  return pybind11::array_t<T>(static_cast<pybind11::ssize_t>(values.size()), values.data());
}

template <typename T>
std::vector<T> vector_of(const Array<T>& array) {
  return std::vector<T>(array.data(), array.data() + array.size());
}

void bind_base(pybind11::module_& module);
void bind_lm(pybind11::module_& module);
void bind_model(pybind11::module_& module);
void bind_grammar(pybind11::module_& module);
void bind_metrics(pybind11::module_& module);
void bind_shards(pybind11::module_& module);
void bind_decode(pybind11::module_& module);
void bind_lists(pybind11::module_& module);
void bind_learn(pybind11::module_& module);
void bind_tune(pybind11::module_& module);

}  // namespace itersel
