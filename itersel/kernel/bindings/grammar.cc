// Python's view of grammars and rule extraction. Python reads the files; the work runs without the interpreter lock.
#include "grammar/grammar.hh"

#include <algorithm>

#include "base/error.hh"
#include "base/gzip.hh"
#include "bindings/module.hh"
#include "grammar/bitext_index.hh"
#include "grammar/grammar_extractor.hh"

namespace py = pybind11;

namespace itersel {
namespace {

bool is_training_sentence(const BitextIndex& index, std::uint32_t number, const std::string& sentence) {
  if (number >= index.sentences()) return false;
  std::vector<std::string_view> words;
  split_words(sentence, "", words);
  const std::uint32_t begin = index.source_start[number], size = index.source_start[number + 1] - begin - 1;
  return words.size() == size &&
         std::equal(words.begin(), words.end(), index.source.data + begin,
                    [&](std::string_view a, std::uint32_t b) { return a == index.source_text(b); });
}

SentenceFilter checked(const GrammarExtractor& extractor, std::uint32_t modulus, std::uint32_t remainder,
                       const std::string& where) {
  if (modulus == SentenceFilter::kOneSentence && remainder >= extractor.index().sentences())
    throw InputError(where, "there is no such training sentence to leave out");
  return {modulus, remainder};
}

}  // namespace

void bind_grammar(py::module_& module) {
  py::class_<TemplateOptions>(module, "TemplateOptions")
      .def(py::init([](bool identity, bool source_bigrams, bool target_bigrams, bool shape) {
             return TemplateOptions{identity, source_bigrams, target_bigrams, shape};
           }),
           py::kw_only(), py::arg("identity"), py::arg("source_bigrams"), py::arg("target_bigrams"), py::arg("shape"));

  py::class_<Grammar, std::shared_ptr<Grammar>>(module, "Grammar")
      .def_static(
          "parse",
          [](py::bytes text, const std::string& path, const TemplateOptions& templates, const std::string& goal,
             const std::string& default_nonterminal) {
            std::string_view view = text;
            py::gil_scoped_release release;
            return std::const_pointer_cast<Grammar>(parse_grammar(view, path, templates, {goal, default_nonterminal}));
          },
          py::arg("text"), py::arg("path"), py::arg("templates"), py::arg("goal"), py::arg("default_nonterminal"))
      .def("__len__", &Grammar::size)
      .def("text", [](const Grammar& grammar) { return py::bytes(write_grammar(grammar)); });

  module.def(
      "build_bitext_index",
      [](py::bytes source, py::bytes target, py::bytes alignment, const std::string& source_name,
         const std::string& target_name, const std::string& alignment_name) {
        BitextText text{source, target, alignment, source_name, target_name, alignment_name};
        std::string result;
        {
          py::gil_scoped_release release;
          result = build_bitext_index(text);
        }
        return py::bytes(result);
      },
      py::arg("source"), py::arg("target"), py::arg("alignment"), py::arg("source_name"), py::arg("target_name"),
      py::arg("alignment_name"));

  py::class_<BitextIndex, std::shared_ptr<BitextIndex>>(module, "BitextIndex")
      .def(py::init<const std::string&>(), py::arg("path"), py::call_guard<py::gil_scoped_release>())
      .def_property_readonly("fingerprint", &BitextIndex::fingerprint)
      .def_property_readonly("sentences", &BitextIndex::sentences)
      .def_property_readonly("source_words",
                             [](const BitextIndex& index) { return index.source.size - index.sentences(); })
      .def_property_readonly("target_words", [](const BitextIndex& index) { return index.target.size; })
      .def("is_training_sentence", &is_training_sentence, py::arg("number"), py::arg("sentence"));

  py::class_<GrammarExtractor>(module, "GrammarExtractor")
      .def(py::init([](std::shared_ptr<BitextIndex> index, std::uint32_t max_span, std::uint32_t max_symbols,
                       std::uint32_t max_nonterminals, std::uint32_t max_samples, bool tight,
                       std::uint32_t max_rules_per_source, bool phrase_features, std::size_t cache_bytes) {
             return std::make_unique<GrammarExtractor>(
                 index, ExtractOptions{max_span, max_symbols, max_nonterminals, max_samples, tight,
                                       max_rules_per_source, phrase_features, cache_bytes});
           }),
           py::arg("index"), py::arg("max_span"), py::arg("max_symbols"), py::arg("max_nonterminals"),
           py::arg("max_samples"), py::arg("tight"), py::arg("max_rules_per_source"), py::arg("phrase_features"),
           py::arg("cache_bytes"))
      .def(
          "extract_text",
          [](GrammarExtractor& extractor, const std::string& sentence, std::uint32_t modulus, std::uint32_t remainder,
             const std::string& where) {
            std::string_view grammar;
            {
              py::gil_scoped_release release;
              grammar = extractor.extract_text(sentence, checked(extractor, modulus, remainder, where), where);
            }
            return py::bytes(grammar.data(), grammar.size());
          },
          py::arg("sentence"), py::arg("modulus"), py::arg("remainder"), py::arg("where"))
      .def(
          "extract_gzip",
          [](GrammarExtractor& extractor, const std::string& sentence, std::uint32_t modulus, std::uint32_t remainder,
             const std::string& where) {
            std::string packed;
            {
              py::gil_scoped_release release;
              thread_local GzipWriter writer;  // its tables are worth keeping
              writer.add(extractor.extract_text(sentence, checked(extractor, modulus, remainder, where), where));
              packed = writer.finish();
            }
            return py::bytes(packed);
          },
          py::arg("sentence"), py::arg("modulus"), py::arg("remainder"), py::arg("where"))
      .def(
          "extract",
          [](GrammarExtractor& extractor, const std::string& sentence, std::uint32_t modulus, std::uint32_t remainder,
             const std::string& where, const std::string& goal, const std::string& default_nonterminal) {
            return std::const_pointer_cast<Grammar>(extractor.extract(
                sentence, checked(extractor, modulus, remainder, where), where, {goal, default_nonterminal}));
          },
          py::arg("sentence"), py::arg("modulus"), py::arg("remainder"), py::arg("where"), py::arg("goal"),
          py::arg("default_nonterminal"), py::call_guard<py::gil_scoped_release>());
}

}  // namespace itersel
