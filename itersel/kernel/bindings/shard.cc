// Shards as Python classes: building, reading, decoding.
#include <optional>

#include "base/checksum.hh"
#include "base/error.hh"
#include "base/hash.hh"
#include "base/text.hh"
#include "bindings/module.hh"
#include "decode/decoder.hh"
#include "decode/shard_decoder.hh"
#include "shards/shard_builder.hh"

namespace py = pybind11;

namespace itersel {
namespace {

std::uint32_t checked(const Shard& shard, std::uint32_t sentence) {
  if (sentence >= shard.size()) throw py::index_error("the shard has " + std::to_string(shard.size()) + " sentences");
  return sentence;
}

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

void bind_shard(py::module_& module) {
  using NoGil = py::call_guard<py::gil_scoped_release>;

  module.def("checksum", [](py::bytes bytes) { return checksum(bytes); });

  py::class_<ShardBuilder>(module, "ShardBuilder")
      .def(py::init([](const TemplateOptions& templates, const std::string& goal, const std::string& nonterminal,
                       bool pass_through_all) {
             return std::make_unique<ShardBuilder>(templates, ModelNames{goal, nonterminal},
                                                   pass_through_all ? PassThrough::kAll : PassThrough::kUnknown);
           }),
           py::arg("templates"), py::arg("goal"), py::arg("default_nonterminal"), py::arg("pass_through_all"))
      .def(
          "add",
          [](ShardBuilder& builder, const std::string& id, const std::string& task, const std::string& source,
             const std::vector<std::string>& references, std::shared_ptr<Grammar> grammar) {
            std::vector<std::vector<std::string_view>> words;
            for (const std::string& reference : references) words.push_back(split_words(reference));
            builder.add(id, task, split_words(source), words, *grammar);
          },
          py::arg("id"), py::arg("task"), py::arg("source"), py::arg("references"), py::arg("grammar"), NoGil())
      .def("finish", [](ShardBuilder& builder) {
        std::string bytes;
        {
          py::gil_scoped_release release;
          bytes = builder.finish();
        }
        return py::bytes(bytes);
      });

  py::class_<Shard, std::shared_ptr<Shard>>(module, "Shard")
      .def_static(
          "open", [](const std::string& path) { return std::const_pointer_cast<Shard>(Shard::open(path)); }, NoGil())
      .def("__len__", &Shard::size)
      .def_property_readonly("checksum", &Shard::checksum)
      .def_property_readonly("rule_count", [](const Shard& shard) { return shard.table().rules.size(); })
      .def_property_readonly("templates", [](const Shard& shard) { return shard.model().templates; })
      .def("id", [](const Shard& shard, std::uint32_t at) { return std::string(shard.id(checked(shard, at))); })
      .def("task", [](const Shard& shard, std::uint32_t at) { return std::string(shard.task(checked(shard, at))); })
      .def("source", [](const Shard& shard,
                        std::uint32_t at) { return shard.text(shard.words(checked(shard, at)), shard.word_count(at)); })
      .def("references",
           [](const Shard& shard, std::uint32_t at) {
             std::vector<std::string> texts;
             for (const auto& words : shard.references(checked(shard, at)))
               texts.push_back(shard.text(words.data(), words.size()));
             return texts;
           })
      .def("grammar",
           [](const Shard& shard, std::uint32_t at) {
             std::string text;
             for (std::uint32_t rule : shard.rules(checked(shard, at)))
               (text += write_rule(shard.table(), shard.lexicon(), shard.table().rules[rule])) += '\n';
             return py::bytes(text);
           })
      .def("feature_names",
           [](const Shard& shard) {
             const StringTable& features = shard.lexicon().features;
             py::list names(features.size());
             for (std::uint32_t id = 0; id < features.size(); ++id)
               names[id] = py::str(features[id].data(), features[id].size());
             return names;
           })
      .def("feature_hashes", [](const Shard& shard) {
        const StringTable& features = shard.lexicon().features;
        py::array_t<std::uint64_t> hashes(features.size());
        for (std::uint32_t id = 0; id < features.size(); ++id) hashes.mutable_at(id) = feature_hash(features[id]);
        return hashes;
      });

  py::class_<ShardDecoder>(module, "ShardDecoder")
      .def(py::init([](std::shared_ptr<Shard> shard, std::shared_ptr<LanguageModel> model, std::uint32_t span_limit,
                       std::uint32_t pop_limit) {
             return std::make_unique<ShardDecoder>(shard, model, SearchOptions{span_limit, pop_limit});
           }),
           py::arg("shard"), py::arg("language_model").none(true), py::kw_only(), py::arg("span_limit"),
           py::arg("pop_limit"))
      .def("set_weights",
           [](ShardDecoder& decoder, const Weights& weights) {
             const StringTable& features = decoder.shard().lexicon().features;
             for (std::uint32_t id = 0; id < features.size(); ++id) decoder.weights[id] = weights.get(features[id]);
           })
      .def("set_dense_weights",
           [](ShardDecoder& decoder, py::array_t<double, py::array::c_style | py::array::forcecast> values) {
             if (values.ndim() != 1 || static_cast<std::size_t>(values.size()) != decoder.weights.size())
               throw InputError("", "as many weights are needed as the shard has features");
             decoder.weights.assign(values.data(), values.data() + values.size());
           })
      .def(
          "translate",
          [](ShardDecoder& decoder, std::uint32_t at) {
            std::vector<std::uint32_t> words;
            decoder.translate(checked(decoder.shard(), at), words);
            return decoder.shard().text(words.data(), words.size());
          },
          NoGil())
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
