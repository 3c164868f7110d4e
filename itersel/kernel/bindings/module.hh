// Each room of the kernel that Python sees has a bindings_<room>.cc with one function; bindings.cc calls them all.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace itersel {

struct LearnStatistics;

// The sums as Python knows them; `nonzero` is the number of non-zero weights at the end (bindings_learn.cc).
pybind11::dict statistics_dict(const LearnStatistics& statistics, std::uint64_t nonzero);

void bind_decode(pybind11::module_& module);
void bind_shard(pybind11::module_& module);
void bind_learn(pybind11::module_& module);
void bind_extract(pybind11::module_& module);
void bind_train(pybind11::module_& module);
void bind_tune(pybind11::module_& module);

}  // namespace itersel
