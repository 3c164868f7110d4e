// Python's view of metrics, pairs, learners, feature ids and column sums: lists come as Python data, numbers go back as
// arrays.
#include "learn/learn.hh"

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.hh"
#include "base/hash.hh"
#include "bindings/module.hh"
#include "learn/columns.hh"
#include "learn/pairs.hh"
#include "lists/list_table.hh"
#include "metrics/metrics.hh"

namespace py = pybind11;

namespace itersel {
namespace {

using Sentences = std::vector<std::vector<std::string>>;
template <typename T>
using Array = py::array_t<T, py::array::c_style | py::array::forcecast>;

template <typename T>
py::array_t<T> array_of(const std::vector<T>& values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

// Word ids for one call.
class Words {
 public:
  std::vector<std::vector<std::uint32_t>> ids(const Sentences& sentences) {
    std::vector<std::vector<std::uint32_t>> result;
    for (const auto& sentence : sentences) {
      auto& ids = result.emplace_back();
      for (const std::string& word : sentence) {
        const auto [entry, added] = index_.try_emplace(word, static_cast<std::uint32_t>(spellings_.size()));
        if (added) spellings_.push_back(&entry->first);
        ids.push_back(entry->second);
      }
    }
    return result;
  }
  std::string_view spelling(std::uint32_t id) const { return *spellings_[id]; }

 private:
  std::unordered_map<std::string, std::uint32_t> index_;
  std::vector<const std::string*> spellings_;
};

py::array_t<double> metric_values(const std::string& name, const Sentences& hypotheses, const Sentences& references,
                                  int order) {
  std::vector<double> values;
  {
    py::gil_scoped_release release;
    Words words;
    SentenceMetric metric(metric_of_name(name), words.ids(references), order,
                          [&](std::uint32_t id) { return words.spelling(id); });
    for (const auto& hypothesis : words.ids(hypotheses)) values.push_back(metric.value(hypothesis));
  }
  return array_of(values);
}

py::array_t<std::int64_t> bleu_statistics(const Sentences& hypotheses, const Sentences& references, int order) {
  Words words;
  SentenceMetric metric(Metric::kBleu, words.ids(references), order);
  py::array_t<std::int64_t> result(
      {static_cast<py::ssize_t>(hypotheses.size()), static_cast<py::ssize_t>(2 * order + 2)});
  auto rows = result.mutable_unchecked<2>();
  py::ssize_t row = 0;
  for (const auto& hypothesis : words.ids(hypotheses)) {
    const BleuStatistics statistics = metric.statistics(hypothesis);
    for (int n = 0; n < order; ++n) {
      rows(row, n) = statistics.matches[n];
      rows(row, order + n) = statistics.counts[n];
    }
    rows(row, 2 * order) = statistics.hypothesis_length;
    rows(row++, 2 * order + 1) = statistics.reference_length;
  }
  return result;
}

py::array_t<std::uint32_t> pairs_of(const std::vector<double>& values, const PairOptions& options,
                                    std::uint64_t sentence) {
  std::vector<Pair> pairs;
  make_pairs(values, options, sentence, &pairs);
  py::array_t<std::uint32_t> result({static_cast<py::ssize_t>(pairs.size()), py::ssize_t{2}});
  auto rows = result.mutable_unchecked<2>();
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    rows(static_cast<py::ssize_t>(i), 0) = pairs[i].better;
    rows(static_cast<py::ssize_t>(i), 1) = pairs[i].worse;
  }
  return result;
}

py::tuple column_sums(const Array<std::uint64_t>& ids, const Array<double>& values, const std::string& norm) {
  if (ids.ndim() != 1 || values.ndim() != 1 || ids.size() != values.size())
    throw InputError("", "ids and values must be arrays of the same length");
  const std::uint64_t* id = ids.data();
  const double* value = values.data();
  const auto size = static_cast<std::size_t>(ids.size());
  ColumnSums sums;
  {
    py::gil_scoped_release release;
    sums = sum_columns(id, value, size, norm_of_name(norm));
  }
  return py::make_tuple(array_of(sums.ids), array_of(sums.keys), array_of(sums.sums), array_of(sums.counts));
}

// A k-best list from arrays: hypothesis i has features[offsets[i] : offsets[i + 1]] and the values beside them.
KBestList list_of(const Array<std::int64_t>& offsets, const Array<std::uint32_t>& features, const Array<double>& values,
                  const Array<double>& scores) {
  const auto at = offsets.unchecked<1>();
  const auto feature = features.unchecked<1>();
  const auto value = values.unchecked<1>();
  const auto score = scores.unchecked<1>();
  if (at.shape(0) != score.shape(0) + 1 || feature.shape(0) != value.shape(0) || at(0) != 0 ||
      at(at.shape(0) - 1) != feature.shape(0))
    throw InputError("", "offsets, features, values and scores of the list do not fit together");
  KBestList list(static_cast<std::size_t>(score.shape(0)));
  for (py::ssize_t i = 0; i < score.shape(0); ++i) {
    Hypothesis& hypothesis = list[static_cast<std::size_t>(i)];
    hypothesis.score = score(i);
    if (at(i) > at(i + 1)) throw InputError("", "the list's offsets do not ascend");
    for (py::ssize_t k = at(i); k < at(i + 1); ++k) {
      if (k > at(i) && feature(k - 1) >= feature(k))
        throw InputError("", "the features of hypothesis " + std::to_string(i) + " do not ascend");
      if (value(k) != 0) hypothesis.features.push_back({feature(k), value(k)});
    }
  }
  return list;
}

template <typename T>
std::vector<T> vector_of(const Array<T>& array) {
  return std::vector<T>(array.data(), array.data() + array.size());
}

// A table over an array's memory, which it keeps alive.
struct OwningTable {
  Array<unsigned char> memory;
  ListTable table;

  OwningTable(Array<unsigned char> data, const Array<std::uint64_t>& offsets, const Array<std::uint64_t>& keys,
              std::uint32_t features)
      : memory(std::move(data)),
        table(memory.data(), static_cast<std::size_t>(memory.size()), vector_of(offsets), vector_of(keys), features) {}

  // What the weights rank first in every list: its place in the list, and its metric.
  py::tuple best(const Array<double>& given) const {
    const std::vector<double> weights = vector_of(given);
    if (weights.size() < table.features()) throw InputError("", "fewer weights than features");
    std::vector<std::uint32_t> places;
    std::vector<double> values, metric;
    {
      py::gil_scoped_release release;
      KBestList hypotheses;
      for (std::uint32_t list = 0; list < table.size(); ++list) {
        table.read(list, hypotheses, metric);
        const ListTable::Best found = ListTable::best(hypotheses, metric, weights);
        places.push_back(found.hypothesis);
        values.push_back(found.metric);
      }
    }
    return py::make_tuple(array_of(places), array_of(values));
  }
};

// A learner that owns its weights; they grow with the features it meets.
struct OwningLearner {
  std::vector<double> weights;
  Learner learner;
  PairOptions pairs;

  OwningLearner(const Array<double>& start, const LearnOptions& options, std::uint64_t lists_before)
      : weights(vector_of(start)), learner(&weights, options, lists_before), pairs(options.pairs) {}

  // Returns the sums of metric and score of what was ranked first.
  py::tuple learn_lists(const OwningTable& lists, const Array<std::uint32_t>& chosen, std::uint64_t epoch) {
    const std::vector<std::uint32_t> numbers = vector_of(chosen);
    LearnStatistics ranked_first;
    {
      py::gil_scoped_release release;
      if (weights.size() < lists.table.features()) weights.resize(lists.table.features());
      itersel::learn_lists(lists.table, numbers, epoch, pairs, learner, weights, ranked_first);
    }
    return py::make_tuple(ranked_first.best_metric, ranked_first.best_score);
  }

  void learn(const Array<std::int64_t>& offsets, const Array<std::uint32_t>& features, const Array<double>& values,
             const Array<double>& scores, const std::vector<double>& metric, std::uint64_t sentence) {
    const KBestList list = list_of(offsets, features, values, scores);
    py::gil_scoped_release release;
    std::uint32_t size = static_cast<std::uint32_t>(weights.size());
    for (const Hypothesis& hypothesis : list)
      if (!hypothesis.features.empty()) size = std::max(size, hypothesis.features.back().feature + 1);
    weights.resize(size);
    learner.learn(list, metric, sentence);
  }

  py::dict statistics() const { return statistics_dict(learner.statistics(), learner.count_nonzero()); }
};

}  // namespace

py::dict statistics_dict(const LearnStatistics& s, std::uint64_t nonzero) {
  py::dict made;
  made["lists"] = s.lists;
  made["hypotheses"] = s.hypotheses;
  made["features"] = s.features;
  made["pairs"] = s.pairs;
  made["rank_errors"] = s.rank_errors;
  made["margin_violations"] = s.margin_violations;
  made["updates"] = s.updates;
  made["best_metric"] = s.best_metric;
  made["best_score"] = s.best_score;
  made["nonzero"] = nonzero;
  return made;
}

void bind_learn(py::module_& module) {
  using py::arg;
  module.def("feature_hash", [](const std::string& name) { return feature_hash(name); }, arg("name"));
  module.def(
      "feature_hashes",
      [](const std::vector<std::string>& names) {
        py::array_t<std::uint64_t> result(static_cast<py::ssize_t>(names.size()));
        for (std::size_t i = 0; i < names.size(); ++i)
          result.mutable_at(static_cast<py::ssize_t>(i)) = feature_hash(names[i]);
        return result;
      },
      arg("names"));
  module.def("column_sums", &column_sums, arg("ids"), arg("values"), arg("norm"));
  module.def("metric_values", &metric_values, arg("metric"), arg("hypotheses"), arg("references"), arg("order") = 4);
  module.def("bleu_statistics", &bleu_statistics, arg("hypotheses"), arg("references"), arg("order") = 4);

  py::class_<PairOptions>(module, "PairOptions")
      .def(py::init([](const std::string& kind, double share, bool dtrain, std::uint32_t samples, double threshold,
                       std::uint32_t keep, std::uint64_t seed) {
             return PairOptions{pair_kind_of_name(kind), share, dtrain, samples, threshold, keep, seed};
           }),
           py::kw_only(), arg("kind") = "multipartite", arg("share") = 0.1, arg("dtrain") = false,
           arg("samples") = 5000, arg("threshold") = 0.05, arg("keep") = 50, arg("seed") = 0);
  module.def("make_pairs", &pairs_of, arg("values"), arg("options"), arg("sentence") = 0);

  py::class_<LearnOptions>(module, "LearnOptions")
      .def(py::init([](const std::string& rule, double margin, double eta, const std::string& schedule, double lambda,
                       bool batch, bool average, const PairOptions& pairs) {
             return LearnOptions{
                 update_rule_of_name(rule), margin, eta, schedule_of_name(schedule), lambda, batch, average, pairs};
           }),
           py::kw_only(), arg("rule") = "perceptron", arg("margin") = 1.0, arg("eta") = 0.0001,
           arg("schedule") = "constant", arg("l1") = 0.0, arg("batch") = false, arg("average") = false,
           arg("pairs") = PairOptions());
  py::class_<OwningTable>(module, "ListTable")
      .def(py::init<Array<unsigned char>, const Array<std::uint64_t>&, const Array<std::uint64_t>&, std::uint32_t>(),
           arg("data"), arg("offsets"), arg("keys"), arg("features"))
      .def("best", &OwningTable::best, arg("weights"));
  py::class_<OwningLearner>(module, "Learner")
      .def(py::init<const Array<double>&, const LearnOptions&, std::uint64_t>(), arg("weights"), arg("options"),
           arg("lists_before") = 0)
      .def("learn_lists", &OwningLearner::learn_lists, arg("table"), arg("lists"), arg("epoch") = 0)
      .def("learn", &OwningLearner::learn, arg("offsets"), arg("features"), arg("values"), arg("scores"), arg("metric"),
           arg("sentence") = 0)
      .def_property_readonly("weights", [](const OwningLearner& self) { return array_of(self.weights); })
      .def_property_readonly("average", [](const OwningLearner& self) { return array_of(self.learner.average()); })
      .def_property_readonly("changed", [](const OwningLearner& self) { return array_of(self.learner.changed()); })
      .def_property_readonly("statistics", &OwningLearner::statistics);
}

}  // namespace itersel
