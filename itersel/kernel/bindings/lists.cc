// Python's view of compiled lists.
#include "base/error.hh"
#include "bindings/list_table.hh"
#include "bindings/module.hh"

namespace py = pybind11;

namespace itersel {
namespace {

// What the weights rank first in every list: its place in the list, and its metric.
py::tuple best(const OwningTable& lists, const Array<double>& given) {
  const std::vector<double> weights = vector_of(given);
  const ListTable& table = lists.table;
  if (weights.size() < table.features()) throw InputError("", "fewer weights than features");
  std::vector<std::uint32_t> places;
  std::vector<double> values;
  {
    py::gil_scoped_release release;
    ScoredList list;
    for (std::uint32_t number = 0; number < table.size(); ++number) {
      table.read(number, list);
      const ListTable::Best found = ListTable::best(list, weights);
      places.push_back(found.hypothesis);
      values.push_back(found.metric);
    }
  }
  return py::make_tuple(array_of(places), array_of(values));
}

// The metric of each hypothesis of a list, and a row of statistics for each.
py::tuple scores(const OwningTable& lists, std::uint32_t number) {
  if (number >= lists.table.size()) throw InputError("", "there is no list " + std::to_string(number + 1));
  ScoredList list;
  lists.table.read(number, list);
  const py::array_t<Statistic> rows(
      {static_cast<py::ssize_t>(list.metric.size()), static_cast<py::ssize_t>(list.statistics.width)},
      list.statistics.values.data());
  return py::make_tuple(array_of(list.metric), rows);
}

}  // namespace

void bind_lists(py::module_& module) {
  using py::arg;
  py::class_<OwningTable>(module, "ListTable")
      .def(py::init<Array<unsigned char>, const Array<std::uint64_t>&, const Array<std::uint64_t>&, std::uint32_t>(),
           arg("data"), arg("offsets"), arg("keys"), arg("features"))
      .def("best", &best, arg("weights"))
      .def("scores", &scores, arg("number"));
}

}  // namespace itersel
