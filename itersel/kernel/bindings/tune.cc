// Python's view of tuning: lists as arrays in, surfaces as arrays out; MIRA on lists; envelopes of a shard's forests.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hh"
#include "bindings/list_arrays.hh"
#include "bindings/module.hh"
#include "bindings/parts.hh"
#include "bindings/reporter.hh"
#include "decode/shard_decoder.hh"
#include "tune/forest.hh"
#include "tune/gradient.hh"
#include "tune/mira.hh"
#include "tune/surface.hh"

namespace py = pybind11;

namespace itersel {
namespace {

using SurfaceArrays = std::tuple<Array<double>, Array<double>, py::array>;  // base, points, changes

void require(bool fits, const char* what) {
  if (!fits) throw InputError("", what);
}

// Ascending from 0 to `end`; with `filled`, every part has a member.
void check_offsets(const Array<std::int64_t>& offsets, std::int64_t end, bool filled) {
  require(offsets.ndim() == 1 && offsets.size() >= 1, "offsets must have one dimension and at least one number");
  const std::int64_t* at = offsets.data();
  require(at[0] == 0 && at[offsets.size() - 1] == end, "offsets do not fit the rows");
  for (py::ssize_t k = 0; k + 1 < offsets.size(); ++k)
    require(filled ? at[k] < at[k + 1] : at[k] <= at[k + 1], "offsets do not ascend: is a list empty?");
}

py::tuple arrays_of(const Surface& surface, std::uint32_t width) {
  const auto changes = [&](const auto& values) -> py::array {
    auto made = array_of(values);
    return made.reshape({static_cast<py::ssize_t>(surface.points.size()), static_cast<py::ssize_t>(width)});
  };
  return py::make_tuple(array_of(surface.base), array_of(surface.points),
                        surface.large.empty() ? changes(surface.small) : changes(surface.large));
}

Surface surface_of(const SurfaceArrays& arrays, std::uint32_t width) {
  const auto& [base, points, changes] = arrays;
  require(base.size() == width && changes.size() == points.size() * width, "a surface's arrays do not fit together");
  Surface surface{vector_of(base), vector_of(points), {}, {}};
  if (py::isinstance<py::array_t<std::int16_t>>(changes)) {
    surface.small = vector_of(Array<std::int16_t>(changes));
  } else {
    surface.large = vector_of(Array<double>(changes));
  }
  return surface;
}

py::list surfaces_of_lists(const Array<double>& features, const Array<std::int64_t>& offsets,
                           const Array<float>& statistics, const Array<double>& origins,
                           const Array<double>& directions) {
  require(features.ndim() == 2 && statistics.ndim() == 2 && features.shape(1) == statistics.shape(0),
          "features (dimensions × rows) and statistics (rows × columns) do not fit together");
  require(origins.ndim() == 2 && directions.ndim() == 2 && origins.shape(0) == directions.shape(0) &&
              origins.shape(1) == features.shape(0) && directions.shape(1) == features.shape(0),
          "origins and directions must have a row per line and a column per dimension");
  require(features.shape(1) < 0xFFFFFFFF, "too many hypotheses in one shard");
  check_offsets(offsets, statistics.shape(0), true);
  const auto width = static_cast<std::uint32_t>(statistics.shape(1));
  const ListBlock block{features.data(),
                        static_cast<std::uint32_t>(features.shape(0)),
                        static_cast<std::uint64_t>(features.shape(1)),
                        offsets.data(),
                        static_cast<std::uint64_t>(offsets.size() - 1),
                        statistics.data(),
                        width};
  std::vector<Surface> surfaces;
  {
    py::gil_scoped_release release;
    surfaces = list_surfaces(block, origins.data(), directions.data(), static_cast<std::size_t>(origins.shape(0)));
  }
  py::list made;
  for (const Surface& surface : surfaces) made.append(arrays_of(surface, width));
  return made;
}

py::tuple merge_surfaces(const std::vector<SurfaceArrays>& given) {
  require(!given.empty(), "no surface to merge");
  const auto width = static_cast<std::uint32_t>(std::get<0>(given.front()).size());
  SurfaceBuilder<double> builder(width);
  for (const SurfaceArrays& arrays : given) builder.add(surface_of(arrays, width));
  return arrays_of(builder.finish(), width);
}

py::tuple best_step_of(const SurfaceArrays& arrays, const Objective& objective, double low, double high,
                       double least_width, double reach) {
  const Surface surface = surface_of(arrays, objective.width());
  LineStep step;
  {
    py::gil_scoped_release release;
    step = best_step(surface, objective, {low, high, least_width, reach});
  }
  return py::make_tuple(step.step, step.score, step.before, array_of(step.sums));
}

// For each line, where the best derivation changes and to which text: (points, numbers of texts); and the texts.
py::tuple forest_envelopes(ShardDecoder& decoder, std::uint32_t sentence, const Array<double>& origins,
                           const Array<double>& directions) {
  const auto features = static_cast<py::ssize_t>(decoder.weights.size());
  require(origins.ndim() == 2 && directions.ndim() == 2 && origins.shape(0) == directions.shape(0) &&
              origins.shape(1) == features && directions.shape(1) == features,
          "origins and directions must have a row per line and a column per feature of the shard");
  require(sentence < decoder.shard().size(), "the shard has no sentence of this number");
  std::vector<std::vector<double>> points(static_cast<std::size_t>(origins.shape(0)));
  std::vector<std::vector<std::uint32_t>> numbers(points.size());
  std::vector<std::string> texts;
  {
    py::gil_scoped_release release;
    std::map<std::vector<std::uint32_t>, std::uint32_t> known;
    ForestEnvelope envelope;
    const bool found = decoder.search(sentence);
    if (found) envelope.start(decoder.graph(), decoder.problem());
    std::vector<std::uint32_t> words;
    for (std::size_t q = 0; q < points.size(); ++q) {
      const Segment nothing{-std::numeric_limits<double>::infinity(), 0, 0, 0};
      const auto row = static_cast<py::ssize_t>(q) * features;
      const std::vector<Segment> segments =
          found ? envelope.build(origins.data() + row, directions.data() + row) : std::vector<Segment>{nothing};
      for (const Segment& segment : segments) {
        words.clear();
        if (found) envelope.words(segment.line, words);
        const auto [entry, added] = known.try_emplace(words, static_cast<std::uint32_t>(texts.size()));
        if (added) texts.push_back(decoder.shard().text(words.data(), words.size()));
        if (!numbers[q].empty() && numbers[q].back() == entry->second) continue;
        points[q].push_back(segment.begin);
        numbers[q].push_back(entry->second);
      }
    }
  }
  py::list lines;
  for (std::size_t q = 0; q < points.size(); ++q)
    lines.append(py::make_tuple(array_of(points[q]), array_of(numbers[q])));
  return py::make_tuple(texts, lines);
}

// A k-best list as arrays: texts, offsets, feature ids of the shard and values.
py::tuple kbest_arrays(ShardDecoder& decoder, std::uint32_t sentence, std::uint32_t k, bool unique) {
  require(sentence < decoder.shard().size(), "the shard has no sentence of this number");
  std::vector<std::string> texts;
  std::vector<std::int64_t> offsets{0};
  std::vector<std::uint32_t> features;
  std::vector<double> values;
  {
    py::gil_scoped_release release;
    KBestList list;
    decoder.kbest(sentence, k, unique, list);
    for (const Hypothesis& hypothesis : list) {
      texts.push_back(decoder.shard().text(hypothesis.words.data(), hypothesis.words.size()));
      for (const FeatureValue& feature : hypothesis.features) {
        features.push_back(feature.feature);
        values.push_back(feature.value);
      }
      offsets.push_back(static_cast<std::int64_t>(features.size()));
    }
  }
  return py::make_tuple(texts, array_of(offsets), array_of(features), array_of(values));
}

// Ids, names, and columns by feature: gradient, lists, extraction counts, largest part of a list, that list's number;
// statistics and seconds.
py::tuple gradient_of_shard(std::shared_ptr<Shard> shard, const std::vector<Part>& given, const EpochOptions& epoch,
                            const GradientOptions& options, const Array<std::uint64_t>& hashes,
                            const Array<double>& values, py::object progress) {
  const HashedWeights start{vector_of(hashes), vector_of(values)};
  const std::vector<EpochPart> parts = epoch_parts(*shard, given);
  auto statistics_of = [](const GradientStatistics& s) {
    py::dict made;
    made["lists"] = s.lists;
    made["hypotheses"] = s.hypotheses;
    made["loss"] = s.loss;
    return made;
  };
  Reporter reporter(std::move(progress));
  ShardGradient made;
  std::string names;
  {
    py::gil_scoped_release release;
    made = shard_gradient(shard, parts, epoch, options, start, [&](const GradientStatistics& statistics) {
      reporter([&] { return statistics_of(statistics); });
    });
    names = joined_names(*shard, made.features);
  }
  return py::make_tuple(array_of(made.hashes), py::bytes(names), array_of(made.gradient), array_of(made.lists),
                        array_of(made.extracted), array_of(made.largest), array_of(made.largest_list),
                        statistics_of(made.statistics), seconds_of(made.seconds));
}

struct MiraLists {
  Array<std::int64_t> offsets, starts;
  Array<std::uint32_t> features;
  Array<double> values;
  Array<float> statistics;

  SparseLists view() const {
    return {offsets.data(),
            static_cast<std::uint64_t>(offsets.size() - 1),
            starts.data(),
            features.data(),
            values.data(),
            statistics.data(),
            static_cast<std::uint32_t>(statistics.shape(1) / 2 - 1)};
  }
};

py::dict run_mira(Mira& mira, const MiraLists& lists, const Array<std::uint32_t>& order) {
  for (py::ssize_t at = 0; at < order.size(); ++at)
    require(order.data()[at] + 1 < lists.offsets.size(), "no list of this number");
  for (py::ssize_t at = 0; at < lists.features.size(); ++at)
    require(lists.features.data()[at] < mira.weights().size(), "a feature has no weight");
  MiraStatistics statistics;
  {
    py::gil_scoped_release release;
    statistics = mira.run(lists.view(), order.data(), static_cast<std::size_t>(order.size()));
  }
  py::dict made;
  made["lists"] = statistics.lists;
  made["updates"] = statistics.updates;
  made["loss"] = statistics.loss;
  return made;
}

}  // namespace

void bind_tune(py::module_& module) {
  using py::arg;
  py::class_<Objective>(module, "Objective")
      .def(py::init([](const std::vector<std::tuple<std::string, double, std::uint32_t>>& terms) {
             Objective objective;
             for (const auto& [name, weight, width] : terms) objective.add(name, weight, width);
             return objective;
           }),
           arg("terms"))
      .def_property_readonly("width", &Objective::width)
      .def(
          "score",
          [](const Objective& objective, const Array<double>& sums) {
            require(sums.size() == objective.width(), "the sums do not fit the objective");
            return objective.score(sums.data());
          },
          arg("sums"));
  module.def("use_wide_registers", &use_wide_registers, arg("wanted"));
  module.def("list_surfaces", &surfaces_of_lists, arg("features"), arg("offsets"), arg("statistics"), arg("origins"),
             arg("directions"));
  module.def("merge_surfaces", &merge_surfaces, arg("surfaces"));
  module.def("best_step", &best_step_of, arg("surface"), arg("objective"), arg("low"), arg("high"), arg("least_width"),
             arg("reach"));
  module.def("forest_envelopes", &forest_envelopes, arg("decoder"), arg("sentence"), arg("origins"), arg("directions"));
  module.def("kbest_arrays", &kbest_arrays, arg("decoder"), arg("sentence"), arg("k"), arg("unique"));

  py::class_<GradientOptions>(module, "GradientOptions")
      .def(py::init([](double cost_scale, double score_scale, const std::vector<std::string>& prefixes,
                       bool extraction_counts) {
             return GradientOptions{cost_scale, score_scale, prefixes, extraction_counts};
           }),
           py::kw_only(), arg("cost_scale"), arg("score_scale"), arg("prefixes"), arg("extraction_counts"));
  py::class_<GradientSums>(module, "GradientSums")
      .def(py::init([](std::size_t width, double cost_scale, double score_scale) {
             return GradientSums(std::vector<char>(width, 1), cost_scale, score_scale);
           }),
           arg("width"), arg("cost_scale"), arg("score_scale"))
      .def(
          "add",
          [](GradientSums& sums, const Array<std::int64_t>& offsets, const Array<std::uint32_t>& features,
             const Array<double>& values, const Array<double>& scores, std::vector<double> metric) {
            sums.add({list_of(offsets, features, values, scores), std::move(metric), {}});
          },
          arg("offsets"), arg("features"), arg("values"), arg("scores"), arg("metric"))
      .def_property_readonly("loss", [](const GradientSums& sums) { return sums.statistics.loss; })
      .def_property_readonly("gradient", [](const GradientSums& sums) { return array_of(sums.gradient); })
      .def_property_readonly("lists", [](const GradientSums& sums) { return array_of(sums.lists); })
      .def_property_readonly("largest", [](const GradientSums& sums) { return array_of(sums.largest); })
      .def_property_readonly("largest_list", [](const GradientSums& sums) { return array_of(sums.largest_list); });
  module.def("shard_gradient", &gradient_of_shard, arg("shard"), arg("parts"), arg("epoch"), arg("options"),
             arg("hashes"), arg("values"), arg("progress").none(true));

  py::class_<MiraLists>(module, "MiraLists")
      .def(py::init([](Array<std::int64_t> offsets, Array<std::int64_t> starts, Array<std::uint32_t> features,
                       Array<double> values, Array<float> statistics) {
             require(statistics.ndim() == 2 && statistics.shape(1) >= 4 && statistics.shape(1) % 2 == 0,
                     "MIRA needs BLEU's statistics");
             require(features.size() == values.size(), "features and values do not fit together");
             check_offsets(offsets, statistics.shape(0), true);
             check_offsets(starts, features.size(), false);
             require(starts.size() == statistics.shape(0) + 1, "rows and statistics do not fit together");
             return MiraLists{offsets, starts, features, values, statistics};
           }),
           arg("offsets"), arg("starts"), arg("features"), arg("values"), arg("statistics"));
  py::class_<Mira>(module, "Mira")
      .def(py::init([](const Array<double>& weights, std::uint32_t order, double c, double decay) {
             return Mira({weights.data(), weights.data() + weights.size()}, order, {c, decay});
           }),
           arg("weights"), arg("order"), arg("c"), arg("decay"))
      .def("run", &run_mira, arg("lists"), arg("order"))
      .def_property_readonly("weights", [](const Mira& mira) { return array_of(mira.weights()); })
      .def_property_readonly("average", [](const Mira& mira) { return array_of(mira.average()); });
}

}  // namespace itersel
