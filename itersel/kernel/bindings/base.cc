// Python's view of checksums and feature ids.
#include <string>
#include <vector>

#include "base/checksum.hh"
#include "base/hash.hh"
#include "bindings/module.hh"

namespace py = pybind11;

namespace itersel {

void bind_base(py::module_& module) {
  module.def("checksum", [](py::bytes content) { return checksum(content); }, py::arg("content"));
  module.def("feature_hash", [](const std::string& name) { return feature_hash(name); }, py::arg("name"));
  module.def(
      "feature_hashes",
      [](const std::vector<std::string>& names) {
        std::vector<std::uint64_t> hashes;
        hashes.reserve(names.size());
        for (const std::string& name : names) hashes.push_back(feature_hash(name));
        return array_of(hashes);
      },
      py::arg("names"));
}

}  // namespace itersel
