// Python's view of learning: pairs, updates, epochs over shards and over lists, and column sums for mixing.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hh"
#include "bindings/list_arrays.hh"
#include "bindings/list_table.hh"
#include "bindings/module.hh"
#include "bindings/parts.hh"
#include "bindings/reporter.hh"
#include "learn/chooser.hh"
#include "learn/columns.hh"
#include "learn/epoch.hh"
#include "learn/learner.hh"
#include "learn/list_epoch.hh"
#include "learn/rate.hh"
#include "learn/step.hh"

namespace py = pybind11;

namespace itersel {
namespace {

// The sums as Python knows them; `nonzero` is the number of non-zero weights at the end.
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

py::array_t<std::uint32_t> make_pairs(std::vector<double> values, const PairOptions& options, std::uint64_t key) {
  ScoredList list;
  list.metric = std::move(values);
  std::vector<Pair> pairs;
  make_chooser(options)->choose({list, {}, key}, &pairs);
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

// The better and the worse hypothesis of a list, or none.
std::vector<Pair> pairs_of(const std::optional<std::pair<std::uint32_t, std::uint32_t>>& pair, const ScoredList& list) {
  if (!pair) return {};
  if (pair->first >= list.hypotheses.size() || pair->second >= list.hypotheses.size())
    throw InputError("", "the list has only " + std::to_string(list.hypotheses.size()) + " hypotheses");
  return {{pair->first, pair->second}};
}

// A learner that owns its weights; they grow with the features it meets.
struct OwningLearner {
  std::vector<double> weights;
  Learner learner;
  PairOptions pairs;
  ScoredList list;  // the last one read

  OwningLearner(const Array<double>& start, const LearnOptions& options, std::uint64_t lists_before)
      : weights(vector_of(start)), learner(&weights, options, lists_before), pairs(options.pairs), list() {}

  // Reads a list to choose a pair of: scores with the current weights, and the metric. `learn_pair` goes on from it.
  py::tuple read_list(const OwningTable& lists, std::uint32_t number) {
    std::vector<double> scores;
    {
      py::gil_scoped_release release;
      if (weights.size() < lists.table.features()) weights.resize(lists.table.features());
      if (number >= lists.table.size()) throw InputError("", "there is no list " + std::to_string(number + 1));
      lists.table.read(number, list);
      for (const Hypothesis& hypothesis : list.hypotheses) {
        double score = 0;
        for (const FeatureValue& x : hypothesis.features) score += weights[x.feature] * x.value;
        scores.push_back(score);
      }
    }
    return py::make_tuple(array_of(scores), array_of(list.metric));
  }

  void learn_pair(const std::optional<std::pair<std::uint32_t, std::uint32_t>>& pair) {
    learner.learn(list, pairs_of(pair, list));
    for (const std::uint32_t feature : learner.changed())
      if (!std::isfinite(weights[feature]))
        throw InputError("", "a weight became infinite; use a smaller learning rate");
  }

  // Returns the sums of metric and score of what was ranked first.
  py::tuple learn_lists(const OwningTable& lists, const Array<std::uint32_t>& chosen, std::uint64_t epoch) {
    const std::vector<std::uint32_t> numbers = vector_of(chosen);
    RankedFirst sums;
    {
      py::gil_scoped_release release;
      if (weights.size() < lists.table.features()) weights.resize(lists.table.features());
      sums = itersel::learn_lists(lists.table, numbers, epoch, pairs, learner);
    }
    return py::make_tuple(sums.metric, sums.score);
  }

  void learn(const Array<std::int64_t>& offsets, const Array<std::uint32_t>& features, const Array<double>& values,
             const Array<double>& scores, std::vector<double> metric, std::uint64_t key) {
    ScoredList list{list_of(offsets, features, values, scores), std::move(metric), {}};
    py::gil_scoped_release release;
    std::size_t size = weights.size();
    for (const Hypothesis& hypothesis : list.hypotheses)
      if (!hypothesis.features.empty()) size = std::max(size, hypothesis.features.back().feature + std::size_t{1});
    weights.resize(size);
    std::vector<Pair> chosen;
    make_chooser(pairs)->choose({list, weights, key}, &chosen);
    learner.learn(list, chosen);
  }

  py::dict statistics() const { return statistics_dict(learner.statistics(), learner.count_nonzero()); }
};

py::tuple epoch_result(const EpochResult& result, const std::string& names) {
  py::object average = py::none();
  if (result.average) average = py::make_tuple(array_of(result.average->hashes), array_of(result.average->values));
  const py::tuple account = py::make_tuple(array_of(result.account.hashes), array_of(result.account.values));
  return py::make_tuple(array_of(result.weights.hashes), array_of(result.weights.values), average, py::bytes(names),
                        statistics_dict(result.statistics, result.weights.hashes.size()), seconds_of(result.seconds),
                        account);
}

// The scores and the metric of a list.
py::tuple scores_of(const ScoredList& list) {
  std::vector<double> scores;
  for (const Hypothesis& hypothesis : list.hypotheses) scores.push_back(hypothesis.score);
  return py::make_tuple(array_of(scores), array_of(list.metric));
}

py::tuple epoch(std::shared_ptr<Shard> shard, const std::vector<Part>& given, const EpochOptions& options,
                const Array<std::uint64_t>& hashes, const Array<double>& values,
                const Array<std::uint64_t>& account_hashes, const Array<double>& account_values, py::object progress) {
  for (const py::ssize_t dimensions : {hashes.ndim(), values.ndim(), account_hashes.ndim(), account_values.ndim()})
    if (dimensions != 1) throw InputError("", "start weights: the arrays must have one dimension");
  const HashedWeights start{vector_of(hashes), vector_of(values)};
  const HashedWeights account{vector_of(account_hashes), vector_of(account_values)};
  const std::vector<EpochPart> parts = epoch_parts(*shard, given);
  Reporter reporter(std::move(progress));
  EpochResult result;
  std::string names;
  {
    py::gil_scoped_release release;
    result = run_epoch(shard, parts, options, start, account, [&](const Learner& learner) {
      reporter([&] { return statistics_dict(learner.statistics(), learner.count_nonzero()); });
    });
    names = joined_names(*shard, result.features);
  }
  return epoch_result(result, names);
}

}  // namespace

void bind_learn(py::module_& module) {
  using py::arg;
  module.def("column_sums", &column_sums, arg("ids"), arg("values"), arg("norm"));

  py::class_<PairOptions>(module, "PairOptions")
      .def(py::init([](const std::string& kind, double share, bool dtrain, std::uint32_t samples, double threshold,
                       std::uint32_t keep, std::uint64_t seed) {
             return PairOptions{chooser_of_name(kind), share, dtrain, samples, threshold, keep, seed};
           }),
           py::kw_only(), arg("kind"), arg("share"), arg("dtrain"), arg("samples"), arg("threshold"), arg("keep"),
           arg("seed"));
  module.def("make_pairs", &make_pairs, arg("values"), arg("options"), arg("key"));

  py::class_<LearnOptions>(module, "LearnOptions")
      .def(py::init([](const std::string& rule, double margin, double eta, const std::string& schedule, double l1,
                       double l2, double cost_scale, bool batch, bool average, const PairOptions& pairs) {
             return LearnOptions{
                 step_of_name(rule), margin, eta, rate_of_name(schedule), l1, l2, cost_scale, batch, average, pairs};
           }),
           py::kw_only(), arg("rule"), arg("margin"), arg("eta"), arg("schedule"), arg("l1"), arg("l2"),
           arg("cost_scale"), arg("batch"), arg("average"), arg("pairs"));
  py::class_<OwningLearner>(module, "Learner")
      .def(py::init<const Array<double>&, const LearnOptions&, std::uint64_t>(), arg("weights"), arg("options"),
           arg("lists_before"))
      .def("learn_lists", &OwningLearner::learn_lists, arg("table"), arg("lists"), arg("epoch"))
      .def("read_list", &OwningLearner::read_list, arg("table"), arg("number"))
      .def("learn_pair", &OwningLearner::learn_pair, arg("pair"))
      .def("learn", &OwningLearner::learn, arg("offsets"), arg("features"), arg("values"), arg("scores"), arg("metric"),
           arg("key"))
      .def_property_readonly("weights", [](const OwningLearner& self) { return array_of(self.weights); })
      .def_property_readonly("average", [](const OwningLearner& self) { return array_of(self.learner.average()); })
      .def_property_readonly("changed", [](const OwningLearner& self) { return array_of(self.learner.changed()); })
      .def_property_readonly("statistics", &OwningLearner::statistics);

  py::class_<EpochOptions>(module, "EpochOptions")
      .def(py::init([](std::uint32_t span_limit, std::uint32_t pop_limit, std::uint32_t k, bool unique,
                       const Metric& metric, const LearnOptions& learn, const std::vector<std::string>& leave_out,
                       const std::vector<std::pair<std::string, double>>& rates, double background, bool shuffle,
                       std::uint64_t seed, std::uint64_t number, std::uint64_t lists_before) {
             return EpochOptions{{span_limit, pop_limit},
                                 k,
                                 unique,
                                 metric,
                                 learn,
                                 leave_out,
                                 rates,
                                 background,
                                 shuffle,
                                 seed,
                                 number,
                                 lists_before};
           }),
           py::kw_only(), arg("span_limit"), arg("pop_limit"), arg("k"), arg("unique"), arg("metric"), arg("learn"),
           arg("leave_out"), arg("rates"), arg("background"), arg("shuffle"), arg("seed"), arg("number"),
           arg("lists_before"));
  py::class_<ShardEpoch>(module, "ShardEpoch")
      .def(py::init([](std::shared_ptr<Shard> shard, std::shared_ptr<LanguageModel> model, const EpochOptions& options,
                       const Array<std::uint64_t>& hashes, const Array<double>& values) {
             return std::make_unique<ShardEpoch>(shard, model, options,
                                                 HashedWeights{vector_of(hashes), vector_of(values)}, shard->size());
           }),
           arg("shard"), arg("language_model").none(true), arg("options"), arg("hashes"), arg("values"))
      .def(
          "use", [](ShardEpoch& self, std::shared_ptr<LanguageModel> model) { self.use(model); },
          arg("language_model").none(true))
      .def(
          "decode",
          [](ShardEpoch& self, std::uint32_t sentence) {
            {
              py::gil_scoped_release release;
              self.decode(sentence);
            }
            return scores_of(self.list());
          },
          arg("sentence"))
      .def(
          "score",
          [](ShardEpoch& self, const std::vector<std::string>& references) { return array_of(self.score(references)); },
          arg("references"))
      .def("text", &ShardEpoch::text, arg("hypothesis"))
      .def(
          "learn_pair",
          [](ShardEpoch& self, const std::optional<std::pair<std::uint32_t, std::uint32_t>>& pair) {
            self.learn(pairs_of(pair, self.list()));
          },
          arg("pair"))
      .def("finish",
           [](const ShardEpoch& self) {
             const EpochResult result = self.finish();
             return epoch_result(result, joined_names(self.shard(), result.features));
           })
      .def_property_readonly("statistics", [](const ShardEpoch& self) {
        return statistics_dict(self.learner().statistics(), self.learner().count_nonzero());
      });
  module.def("run_epoch", &epoch, arg("shard"), arg("parts"), arg("options"), arg("hashes"), arg("values"),
             arg("account_hashes"), arg("account_values"), arg("progress").none(true));
  module.def("epoch_order", &epoch_order, arg("sentences"), arg("options"));
}

}  // namespace itersel
