// Grammar, language model, weights and decoder as Python classes. Files are read by Python; parsing and decoding
// run without the interpreter lock.
#include <optional>

#include "base/text.hh"
#include "bindings/module.hh"
#include "decode/decoder.hh"

namespace py = pybind11;

namespace itersel {
void bind_decode(py::module_& module) {
  using NoGil = py::call_guard<py::gil_scoped_release>;

  py::class_<TemplateOptions>(module, "TemplateOptions")
      .def(py::init([](bool identity, bool source_bigrams, bool target_bigrams, bool shape) {
             return TemplateOptions{identity, source_bigrams, target_bigrams, shape};
           }),
           py::kw_only(), py::arg("identity") = false, py::arg("source_bigrams") = false,
           py::arg("target_bigrams") = false, py::arg("shape") = false);

  py::class_<Grammar, std::shared_ptr<Grammar>>(module, "Grammar")
      .def_static(
          "parse",
          [](py::bytes text, const std::string& path, const TemplateOptions& templates, const std::string& goal,
             const std::string& default_nonterminal) {
            std::string_view view = text;
            py::gil_scoped_release release;
            return std::const_pointer_cast<Grammar>(parse_grammar(view, path, templates, {goal, default_nonterminal}));
          },
          py::arg("text"), py::arg("path"), py::arg("templates"), py::arg("goal") = "S",
          py::arg("default_nonterminal") = "X")
      .def("__len__", &Grammar::size)
      .def("text", [](const Grammar& grammar) { return py::bytes(write_grammar(grammar)); });

  py::class_<LanguageModel, std::shared_ptr<LanguageModel>>(module, "LanguageModel")
      .def_static(
          "load",
          [](const std::string& path, const std::string& name) {
            return std::const_pointer_cast<LanguageModel>(LanguageModel::load(path, name));
          },
          py::arg("path"), py::arg("name"), NoGil())
      .def_property_readonly("order", &LanguageModel::order)
      .def(
          "score", [](const LanguageModel& model, const std::string& line) { return model.score(split_words(line)); },
          NoGil())
      .def("knows", [](const LanguageModel& model, const std::string& word) { return model.index(word) != 0; });

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
      .def("set", &Weights::set)
      .def("find",
           [](const Weights& weights, const std::string& name) -> std::optional<double> {
             std::uint32_t id = weights.names.find(name);
             return id == StringTable::kNone ? std::nullopt : std::optional<double>(weights.values[id]);
           })
      .def("__len__", [](const Weights& weights) { return weights.values.size(); })
      .def("items", [](const Weights& weights) {
        py::list items;
        for (std::uint32_t id = 0; id < weights.names.size(); ++id)
          items.append(py::make_tuple(py::str(std::string(weights.names[id])), weights.values[id]));
        return items;
      });

  py::class_<DecoderOptions>(module, "DecoderOptions")
      .def(py::init([](std::uint32_t span_limit, std::uint32_t pop_limit, bool pass_through_all) {
             return DecoderOptions{{span_limit, pop_limit},
                                   pass_through_all ? PassThrough::kAll : PassThrough::kUnknown};
           }),
           py::kw_only(), py::arg("span_limit"), py::arg("pop_limit"), py::arg("pass_through_all"));

  py::class_<Translation>(module, "Translation")
      .def_readonly("text", &Translation::text)
      .def_readonly("score", &Translation::score)
      .def_property_readonly("features", [](const Translation& translation) {
        py::dict features;
        for (const auto& [name, value] : translation.features) features[py::str(name)] = value;
        return features;
      });

  py::class_<Decoder, std::shared_ptr<Decoder>>(module, "Decoder")
      .def(py::init([](std::shared_ptr<LanguageModel> model, std::shared_ptr<Weights> weights,
                       const DecoderOptions& options) { return std::make_shared<Decoder>(model, weights, options); }),
           py::arg("language_model").none(true), py::arg("weights"), py::arg("options"))
      .def(
          "translate",
          [](Decoder& decoder, std::shared_ptr<Grammar> grammar, const std::string& line) {
            return decoder.translate(grammar, split_words(line));
          },
          NoGil())
      .def(
          "kbest",
          [](Decoder& decoder, std::shared_ptr<Grammar> grammar, const std::string& line, std::uint32_t k,
             bool unique) { return decoder.kbest(grammar, split_words(line), k, unique); },
          py::arg("grammar"), py::arg("line"), py::arg("k"), py::arg("unique"), NoGil());
}

}  // namespace itersel
