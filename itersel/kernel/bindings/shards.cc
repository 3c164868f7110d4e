// Python's view of shards: building and reading.
#include <memory>

#include "base/hash.hh"
#include "base/text.hh"
#include "bindings/module.hh"
#include "bindings/sentence_number.hh"
#include "model/feature_pattern.hh"
#include "shards/shard.hh"
#include "shards/shard_builder.hh"

namespace py = pybind11;

namespace itersel {

void bind_shards(py::module_& module) {
  using NoGil = py::call_guard<py::gil_scoped_release>;

  py::class_<ShardBuilder>(module, "ShardBuilder")
      .def(py::init([](const TemplateOptions& templates, const std::string& goal, const std::string& nonterminal,
                       bool pass_through_all) {
             return std::make_unique<ShardBuilder>(templates, ModelNames{goal, nonterminal},
                                                   pass_through_all ? PassThrough::kAll : PassThrough::kUnknown);
           }),
           py::arg("templates"), py::arg("goal"), py::arg("default_nonterminal"), py::arg("pass_through_all"))
      .def(
          "add",
          [](ShardBuilder& builder, const std::string& id, const std::string& domain, const std::string& source,
             const std::vector<std::string>& references, std::shared_ptr<Grammar> grammar) {
            std::vector<std::vector<std::string_view>> words;
            for (const std::string& reference : references) words.push_back(split_words(reference));
            builder.add(id, domain, split_words(source), words, *grammar);
          },
          py::arg("id"), py::arg("domain"), py::arg("source"), py::arg("references"), py::arg("grammar"), NoGil())
      .def("finish", [](ShardBuilder& builder) {
        std::string bytes;
        {
          py::gil_scoped_release release;
          bytes = builder.finish();
        }
        return py::bytes(bytes);
      });

  module.def(
      "repack_shard",
      [](const std::string& path, bool compressed) {
        std::string bytes;
        {
          py::gil_scoped_release release;
          bytes = repack_shard(path, compressed);
        }
        return py::bytes(bytes);
      },
      py::arg("path"), py::arg("compressed"));

  py::class_<Shard, std::shared_ptr<Shard>>(module, "Shard")
      .def_static(
          "open", [](const std::string& path) { return std::const_pointer_cast<Shard>(Shard::open(path)); },
          py::arg("path"), NoGil())
      .def("__len__", &Shard::size)
      .def_property_readonly("checksum", &Shard::checksum)
      .def_property_readonly("rule_count", [](const Shard& shard) { return shard.model().rules; })
      .def_property_readonly("templates", [](const Shard& shard) { return shard.model().templates; })
      .def(
          "id", [](const Shard& shard, std::uint32_t at) { return std::string(shard.id(checked(shard, at))); },
          py::arg("sentence"))
      .def(
          "domain", [](const Shard& shard, std::uint32_t at) { return std::string(shard.domain(checked(shard, at))); },
          py::arg("sentence"))
      .def(
          "source",
          [](const Shard& shard, std::uint32_t at) {
            return shard.text(shard.words(checked(shard, at)), shard.word_count(at));
          },
          py::arg("sentence"))
      .def(
          "references",
          [](const Shard& shard, std::uint32_t at) {
            std::vector<std::string> texts;
            for (const auto& words : shard.references(checked(shard, at)))
              texts.push_back(shard.text(words.data(), words.size()));
            return texts;
          },
          py::arg("sentence"))
      .def(
          "grammar",
          [](const Shard& shard, std::uint32_t at) {
            SentenceRules rules;
            shard.load(checked(shard, at), rules);
            std::string text;
            for (const Rule& rule : rules.table.rules) (text += write_rule(rules.table, shard.lexicon(), rule)) += '\n';
            return py::bytes(text);
          },
          py::arg("sentence"))
      .def("feature_names",
           [](const Shard& shard) {
             const StringTable& features = shard.lexicon().features;
             py::list names(features.size());
             for (std::uint32_t id = 0; id < features.size(); ++id)
               names[id] = py::str(features[id].data(), features[id].size());
             return names;
           })
      .def(
          "feature_names_of",
          [](const Shard& shard, const Array<std::uint32_t>& ids) {
            const StringTable& features = shard.lexicon().features;
            py::list names(ids.size());
            for (py::ssize_t at = 0; at < ids.size(); ++at) {
              if (ids.at(at) >= features.size()) throw py::index_error("the shard has no feature of this number");
              const std::string_view name = features[ids.at(at)];
              names[static_cast<std::size_t>(at)] = py::str(name.data(), name.size());
            }
            return names;
          },
          py::arg("features"))
      .def(
          "features_matching",
          [](const Shard& shard, const std::vector<std::string>& patterns) {
            const StringTable& features = shard.lexicon().features;
            py::array_t<bool> found(features.size());
            for (std::uint32_t id = 0; id < features.size(); ++id)
              found.mutable_at(id) = matches_any(features[id], patterns);
            return found;
          },
          py::arg("patterns"))
      .def("feature_hashes", [](const Shard& shard) {
        const StringTable& features = shard.lexicon().features;
        py::array_t<std::uint64_t> hashes(features.size());
        for (std::uint32_t id = 0; id < features.size(); ++id) hashes.mutable_at(id) = feature_hash(features[id]);
        return hashes;
      });
}

}  // namespace itersel
