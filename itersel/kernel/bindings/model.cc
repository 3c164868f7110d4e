// Python's view of weights by name. Python reads the files; parsing runs without the interpreter lock.
#include <optional>

#include "bindings/module.hh"
#include "model/weights.hh"

namespace py = pybind11;

namespace itersel {

void bind_model(py::module_& module) {
  py::class_<Weights, std::shared_ptr<Weights>>(module, "Weights")
      .def(py::init<>())
      .def_static(
          "parse",
          [](py::bytes text, const std::string& path) {
            std::string_view view = text;
            py::gil_scoped_release release;
            return parse_weights(view, path);
          },
          py::arg("text"), py::arg("path"))
      .def("text", [](const Weights& weights) { return py::bytes(write_weights(weights)); })
      .def("set", &Weights::set, py::arg("name"), py::arg("value"))
      .def(
          "find",
          [](const Weights& weights, const std::string& name) -> std::optional<double> {
            std::uint32_t id = weights.names.find(name);
            return id == StringTable::kNone ? std::nullopt : std::optional<double>(weights.values[id]);
          },
          py::arg("name"))
      .def("__len__", [](const Weights& weights) { return weights.values.size(); })
      .def("items", [](const Weights& weights) {
        py::list items;
        for (std::uint32_t id = 0; id < weights.names.size(); ++id)
          items.append(py::make_tuple(py::str(std::string(weights.names[id])), weights.values[id]));
        return items;
      });
}

}  // namespace itersel
