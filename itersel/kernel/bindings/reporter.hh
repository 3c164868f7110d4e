// Progress of a long call, told to a Python function.
#pragma once

#include <chrono>
#include <utility>

#include "bindings/module.hh"

namespace itersel {

// Lets Python's signal handlers run and tells the caller's function, a few times a second at most.
class Reporter {
 public:
  explicit Reporter(pybind11::object function) : function_(std::move(function)) {}

  // `describe` makes what the function is told.
  template <typename Describe>
  void operator()(const Describe& describe) {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    pybind11::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw pybind11::error_already_set();
    if (!function_.is_none()) function_(describe());
  }

 private:
  pybind11::object function_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace itersel
