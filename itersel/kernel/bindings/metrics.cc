// Python's view of metrics: words in, statistics out; statistics in, scores out.
#include "metrics/metrics.hh"

#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.hh"
#include "bindings/module.hh"

namespace py = pybind11;

namespace itersel {
namespace {

using Sentences = std::vector<std::vector<std::string>>;

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

// A row of statistics for each hypothesis.
py::array_t<Statistic> metric_statistics(const Metric& metric, const Sentences& hypotheses,
                                         const Sentences& references) {
  const std::uint32_t width = metric.width();
  std::vector<Statistic> rows(hypotheses.size() * width);
  {
    py::gil_scoped_release release;
    Words words;
    SentenceMetric sentence(metric, words.ids(references), [&](std::uint32_t id) { return words.spelling(id); });
    Statistic* row = rows.data();
    for (const auto& hypothesis : words.ids(hypotheses)) {
      sentence.count(hypothesis, row);
      row += width;
    }
  }
  return py::array_t<Statistic>({static_cast<py::ssize_t>(hypotheses.size()), static_cast<py::ssize_t>(width)},
                                rows.data());
}

// A score for each row.
template <typename T, typename Score>
py::array_t<double> scores_of(const Metric& metric, const Array<T>& rows, Score score) {
  if (rows.ndim() != 2 || rows.shape(1) != static_cast<py::ssize_t>(metric.width()))
    throw InputError("", "statistics must be rows of " + std::to_string(metric.width()) + " numbers");
  const T* row = rows.data();
  std::vector<double> scores(static_cast<std::size_t>(rows.shape(0)));
  {
    py::gil_scoped_release release;
    for (double& value : scores) {
      value = score(row);
      row += metric.width();
    }
  }
  return array_of(scores);
}

}  // namespace

void bind_metrics(py::module_& module) {
  using py::arg;
  py::class_<Metric>(module, "Metric")
      .def(py::init<const std::string&, int>(), arg("name"), arg("order"))
      .def_property_readonly("width", &Metric::width)
      .def("statistics", &metric_statistics, arg("hypotheses"), arg("references"))
      .def(
          "sentence_scores",
          [](const Metric& metric, const Array<Statistic>& rows) {
            return scores_of(metric, rows, [&](const Statistic* row) { return metric.score(row); });
          },
          arg("rows"))
      .def(
          "corpus_scores",
          [](const Metric& metric, const Array<double>& sums) {
            return scores_of(metric, sums, [&](const double* row) { return metric.corpus_score(row); });
          },
          arg("sums"));
}

}  // namespace itersel
