// The extension module: error translation, and the rooms' bindings.
#include "bindings/module.hh"

#include <string>

#include "base/build_id.hh"
#include "base/error.hh"

namespace py = pybind11;

namespace {

// Messages may quote a file that is not UTF-8.
py::object text_of(const std::string& bytes) {
  PyObject* text = PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace");
  if (!text) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(text);
}

py::dict build_details() {
  py::dict made;
#if defined(__clang__)
  made["compiler"] = "Clang " __clang_version__;
#elif defined(__GNUC__)
  made["compiler"] = "GCC " __VERSION__;
#else
  made["compiler"] = "unknown";
#endif
  made["flags"] = ITERSEL_FLAGS;
  made["kenlm"] = ITERSEL_KENLM;
  made["max_order"] = KENLM_MAX_ORDER;
  made["pybind11"] = std::to_string(PYBIND11_VERSION_MAJOR) + "." + std::to_string(PYBIND11_VERSION_MINOR);
  return made;
}

}  // namespace

PYBIND11_MODULE(_kernel, module) {
  module.doc() = "itersel's native kernel; use it through the itersel package.";
  module.attr("build_id") = itersel::build_id();
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const itersel::InputError& error) {
      py::object type = py::module_::import("itersel.base.errors").attr("InputError");
      py::object where = error.where().empty() ? py::object(py::none()) : text_of(error.where());
      py::object raised = type(text_of(error.message()), py::arg("where") = where);
      PyErr_SetObject(type.ptr(), raised.ptr());
    }
  });
  module.def("build_details", &build_details, "How this extension was compiled.");
  itersel::bind_base(module);
  itersel::bind_lm(module);
  itersel::bind_model(module);
  itersel::bind_grammar(module);
  itersel::bind_metrics(module);
  itersel::bind_shards(module);
  itersel::bind_decode(module);
  itersel::bind_lists(module);
  itersel::bind_learn(module);
  itersel::bind_tune(module);
}
