// Python's view of language models.
#include "base/text.hh"
#include "bindings/module.hh"
#include "lm/language_model.hh"

namespace py = pybind11;

namespace itersel {

void bind_lm(py::module_& module) {
  using NoGil = py::call_guard<py::gil_scoped_release>;

  py::class_<LanguageModel, std::shared_ptr<LanguageModel>>(module, "LanguageModel")
      .def_static(
          "load",
          [](const std::string& path, const std::string& name) {
            return std::const_pointer_cast<LanguageModel>(LanguageModel::load(path, name));
          },
          py::arg("path"), py::arg("name"), NoGil())
      .def_static("convert", &LanguageModel::convert, py::arg("arpa"), py::arg("output"), py::arg("kind"),
                  py::arg("name"), NoGil())
      .def_property_readonly("order", &LanguageModel::order)
      .def(
          "score", [](const LanguageModel& model, const std::string& line) { return model.score(split_words(line)); },
          py::arg("line"), NoGil())
      .def(
          "knows", [](const LanguageModel& model, const std::string& word) { return model.index(word) != 0; },
          py::arg("word"));
}

}  // namespace itersel
