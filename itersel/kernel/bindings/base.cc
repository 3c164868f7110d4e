// Python's view of checksums, feature ids and compression.
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "base/checksum.hh"
#include "base/compression.hh"
#include "base/gzip.hh"
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
  module.def(
      "gzip_compress",
      [](py::bytes content) {
        const std::string_view view = content;
        std::string packed;
        {
          py::gil_scoped_release release;
          thread_local GzipWriter writer;  // its tables are worth keeping
          writer.add(view);
          packed = writer.finish();
        }
        return py::bytes(packed);
      },
      py::arg("content"));
  module.def(
      "zstd_compress",
      [](py::bytes content) {
        const std::string_view view = content;
        std::string frame;
        {
          py::gil_scoped_release release;
          frame = compress_frame(view);
        }
        return py::bytes(frame);
      },
      py::arg("content"));
  module.def(
      "zstd_decompress",
      [](py::buffer frame) {
        const py::buffer_info info = frame.request();
        const std::string_view view(static_cast<const char*>(info.ptr),
                                    static_cast<std::size_t>(info.size * info.itemsize));
        std::string content;
        bool whole;
        {
          py::gil_scoped_release release;
          whole = decompress_frame(view, content);
        }
        if (!whole) throw py::value_error("the compressed content is damaged or cut off");
        return py::bytes(content);
      },
      py::arg("frame"));
  // All that was written to the file system of an open file is on disk then. Returns the error's number, or 0.
  module.def(
      "sync_file_system",
      [](int descriptor) {
#ifdef __linux__
        return syncfs(descriptor) == 0 ? 0 : errno;
#else
        sync();
        return fsync(descriptor) == 0 ? 0 : errno;
#endif
      },
      py::arg("descriptor"), py::call_guard<py::gil_scoped_release>());
}

}  // namespace itersel
