// Python's view of decoding: with a grammar for each sentence, or the sentences of a shard. Decoding runs without the
// interpreter lock.
#include <algorithm>

#include "base/error.hh"
#include "base/text.hh"
#include "bindings/module.hh"
#include "bindings/sentence_number.hh"
#include "decode/decoder.hh"
#include "decode/shard_decoder.hh"

namespace py = pybind11;

namespace itersel {
namespace {

using NamedFeatures = std::vector<std::pair<std::string, double>>;

NamedFeatures named(const Shard& shard, const std::vector<FeatureValue>& features) {
  NamedFeatures made;
  for (const FeatureValue& feature : features)
    made.emplace_back(shard.lexicon().features[feature.feature], feature.value);
  return made;
}

Translation named(const Shard& shard, const Hypothesis& hypothesis) {
  Translation made{shard.text(hypothesis.words.data(), hypothesis.words.size()), hypothesis.score,
                   named(shard, hypothesis.features)};
  std::sort(made.features.begin(), made.features.end());
  return made;
}

// A node of a derivation as Python sees it: rule in text form, features (a name may come twice), nodes below.
using NamedNode = std::tuple<std::string, NamedFeatures, std::vector<std::uint32_t>>;

}  // namespace

void bind_decode(py::module_& module) {
  using NoGil = py::call_guard<py::gil_scoped_release>;

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
          py::arg("grammar"), py::arg("line"), NoGil())
      .def(
          "kbest",
          [](Decoder& decoder, std::shared_ptr<Grammar> grammar, const std::string& line, std::uint32_t k,
             bool unique) { return decoder.kbest(grammar, split_words(line), k, unique); },
          py::arg("grammar"), py::arg("line"), py::arg("k"), py::arg("unique"), NoGil());

  py::class_<ShardDecoder>(module, "ShardDecoder")
      .def(py::init([](std::shared_ptr<Shard> shard, std::shared_ptr<LanguageModel> model, std::uint32_t span_limit,
                       std::uint32_t pop_limit) {
             return std::make_unique<ShardDecoder>(shard, model, SearchOptions{span_limit, pop_limit});
           }),
           py::arg("shard"), py::arg("language_model").none(true), py::kw_only(), py::arg("span_limit"),
           py::arg("pop_limit"))
      .def(
          "set_weights",
          [](ShardDecoder& decoder, const Weights& weights) {
            const StringTable& features = decoder.shard().lexicon().features;
            for (std::uint32_t id = 0; id < features.size(); ++id) decoder.weights[id] = weights.get(features[id]);
          },
          py::arg("weights"))
      .def(
          "set_dense_weights",
          [](ShardDecoder& decoder, const Array<double>& values) {
            if (values.ndim() != 1 || static_cast<std::size_t>(values.size()) != decoder.weights.size())
              throw InputError("", "as many weights are needed as the shard has features");
            decoder.weights.assign(values.data(), values.data() + values.size());
          },
          py::arg("values"))
      .def(
          "translate",
          [](ShardDecoder& decoder, std::uint32_t at) {
            std::vector<std::uint32_t> words;
            decoder.translate(checked(decoder.shard(), at), words);
            return decoder.shard().text(words.data(), words.size());
          },
          py::arg("sentence"), NoGil())
      .def(
          "kbest",
          [](ShardDecoder& decoder, std::uint32_t at, std::uint32_t k, bool unique) {
            KBestList list;
            decoder.kbest(checked(decoder.shard(), at), k, unique, list);
            std::vector<Translation> translations;
            for (const Hypothesis& hypothesis : list) translations.push_back(named(decoder.shard(), hypothesis));
            return translations;
          },
          py::arg("sentence"), py::arg("k"), py::arg("unique"), NoGil())
      .def(
          "derivation",
          [](ShardDecoder& decoder, std::uint32_t at, std::uint32_t rank, bool unique) {
            const Shard& shard = decoder.shard();
            KBestList list;
            decoder.kbest(checked(shard, at), rank + 1, unique, list);
            if (rank >= list.size())
              throw py::index_error("the sentence has " + std::to_string(list.size()) + " translations");
            std::vector<NamedNode> nodes;
            if (shard.word_count(at) > 0)
              for (const DerivationNode& node : decoder.derivation(rank))
                nodes.emplace_back(decoder.rule_text(node), named(shard, node.features), node.children);
            return std::make_pair(named(shard, list[rank]), std::move(nodes));
          },
          py::arg("sentence"), py::arg("rank"), py::arg("unique"), NoGil());
}

}  // namespace itersel
