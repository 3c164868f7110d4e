// Python's view of an epoch: arrays in, arrays, names and statistics out.
#include <chrono>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hh"
#include "bindings/module.hh"
#include "learn/epoch.hh"

namespace py = pybind11;

namespace itersel {
namespace {

template <typename T>
using Array = py::array_t<T, py::array::c_style | py::array::forcecast>;

template <typename T>
std::vector<T> vector_of(const Array<T>& array) {
  if (array.ndim() != 1) throw InputError("", "start weights: the arrays must have one dimension");
  return std::vector<T>(array.data(), array.data() + array.size());
}

template <typename T>
py::array_t<T> array_of(const std::vector<T>& values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

// Lets Python's signal handlers run and tells the caller's function, a few times a second at most.
class Reporter {
 public:
  explicit Reporter(py::object function) : function_(std::move(function)) {}

  void operator()(const Learner& learner) {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    py::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (!function_.is_none()) function_(statistics_dict(learner.statistics(), learner.count_nonzero()));
  }

 private:
  py::object function_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

py::dict seconds_of(const StageSeconds& s) {
  py::dict made;
  made["decode"] = s.decode;
  made["kbest"] = s.kbest;
  made["metric"] = s.metric;
  made["pairs"] = s.pairs;
  made["update"] = s.update;
  return made;
}

// A language model or none, and the sentences to decode with it; none: all.
using Part = std::pair<std::shared_ptr<LanguageModel>, std::optional<std::vector<std::uint32_t>>>;

py::tuple epoch(std::shared_ptr<Shard> shard, const std::vector<Part>& given, const EpochOptions& options,
                const Array<std::uint64_t>& hashes, const Array<double>& values, py::object progress) {
  const HashedWeights start{vector_of(hashes), vector_of(values)};
  std::vector<EpochPart> parts;
  for (const auto& [model, chosen] : given) {
    parts.push_back({model, chosen.value_or(std::vector<std::uint32_t>(shard->size()))});
    if (!chosen) std::iota(parts.back().sentences.begin(), parts.back().sentences.end(), 0u);
  }
  Reporter reporter(std::move(progress));
  EpochResult result;
  std::string names;
  {
    py::gil_scoped_release release;
    result = run_epoch(shard, parts, options, start, [&](const Learner& learner) { reporter(learner); });
    for (const std::uint32_t feature : result.features) (names += shard->lexicon().features[feature]) += '\n';
  }
  py::object average = py::none();
  if (result.average) average = py::make_tuple(array_of(result.average->hashes), array_of(result.average->values));
  return py::make_tuple(array_of(result.weights.hashes), array_of(result.weights.values), average, py::bytes(names),
                        statistics_dict(result.statistics, result.weights.hashes.size()), seconds_of(result.seconds));
}

}  // namespace

void bind_train(py::module_& module) {
  using py::arg;
  py::class_<EpochOptions>(module, "EpochOptions")
      .def(py::init([](std::uint32_t span_limit, std::uint32_t pop_limit, std::uint32_t k, bool unique,
                       const std::string& metric, int order, const LearnOptions& learn,
                       const std::vector<std::string>& leave_out, bool shuffle, std::uint64_t seed,
                       std::uint64_t number, std::uint64_t lists_before) {
             return EpochOptions{{span_limit, pop_limit},
                                 k,
                                 unique,
                                 metric_of_name(metric),
                                 order,
                                 learn,
                                 leave_out,
                                 shuffle,
                                 seed,
                                 number,
                                 lists_before};
           }),
           py::kw_only(), arg("span_limit"), arg("pop_limit"), arg("k"), arg("unique"), arg("metric"), arg("order"),
           arg("learn"), arg("leave_out"), arg("shuffle"), arg("seed"), arg("number"), arg("lists_before"));
  module.def("run_epoch", &epoch, arg("shard"), arg("parts"), arg("options"), arg("hashes"), arg("values"),
             arg("progress") = py::none());
  module.def("epoch_order", &epoch_order, arg("sentences"), arg("options"));
}

}  // namespace itersel
