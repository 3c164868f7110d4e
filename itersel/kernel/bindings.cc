// The extension module: error translation, and the rooms' bindings.
#include "bindings.hh"

#include "error.hh"

namespace py = pybind11;

PYBIND11_MODULE(_kernel, module) {
  module.doc() = "itersel's native kernel; use it through the itersel package.";
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const itersel::InputError& error) {
      py::object type = py::module_::import("itersel.errors").attr("InputError");
      py::object where = error.where().empty() ? py::object(py::none()) : py::object(py::str(error.where()));
      py::object raised = type(error.message(), py::arg("where") = where);
      PyErr_SetObject(type.ptr(), raised.ptr());
    }
  });
  itersel::bind_decode(module);
  itersel::bind_shard(module);
  itersel::bind_learn(module);
  itersel::bind_extract(module);
}
