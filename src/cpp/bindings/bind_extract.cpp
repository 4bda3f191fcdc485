#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/contiguous_buffer.hpp"
#include "bindings/one_run.hpp"
#include "bindings/without_gil.hpp"
#include "core/extract/extraction.hpp"

namespace fastdump::bindings {
namespace {

// A column of `n` numbers from 0 to `last`.
class Numbers {
 public:
  Numbers(const py::object& exporter, const char* name, std::int64_t last)
      : buffer_(exporter), name_(name), last_(last) {
    if (!buffer_.holds<std::int64_t>()) {
      throw std::invalid_argument(name_ + " are contiguous 64-bit integers");
    }
  }

  std::size_t size() const { return buffer_.nbytes() / sizeof(std::int64_t); }
  std::uint64_t operator[](std::size_t i) const {
    // SAFETY: the buffer holds aligned numbers of this type.
    const std::int64_t number = reinterpret_cast<const std::int64_t*>(buffer_.data())[i];
    if (number >= 0 && number <= last_) return static_cast<std::uint64_t>(number);
    throw std::out_of_range(std::to_string(number) + " is none of " + name_);
  }

 private:
  const ContiguousBuffer buffer_;
  const std::string name_;
  const std::int64_t last_;
};

std::vector<ExtractSource> to_sources(const std::vector<py::bytes>& paths, const py::object& states,
                                      const py::object& directories, std::size_t n_directories,
                                      const py::object& ends, std::size_t n_extracts) {
  const ContiguousBuffer state_of(states);
  const Numbers directory_of(directories, "directories",
                             static_cast<std::int64_t>(n_directories) - 1);
  const Numbers end_of(ends, "ends", static_cast<std::int64_t>(n_extracts));
  const std::size_t n = paths.size();
  const bool is_as_long = state_of.nbytes() == n * sizeof(std::int64_t) &&
                          directory_of.size() == n && end_of.size() == n;
  if (!is_as_long || !state_of.holds<std::int64_t>()) {
    throw std::invalid_argument("columns of sources have different lengths");
  }
  // SAFETY: the buffer holds aligned numbers of this type.
  const auto* state = reinterpret_cast<const std::int64_t*>(state_of.data());
  std::vector<ExtractSource> sources(n);
  for (std::size_t i = 0; i < n; ++i) {
    sources[i] = {check_path(paths[i]), static_cast<FileState>(state[i]),
                  static_cast<std::uint32_t>(directory_of[i]), static_cast<std::size_t>(end_of[i])};
    if (i > 0 && sources[i].end < sources[i - 1].end) {
      throw std::invalid_argument("ends of sources go down");
    }
  }
  return sources;
}

std::vector<Extract> to_extracts(const py::object& offsets, const py::object& sizes,
                                 const py::object& kinds, std::size_t n_kinds) {
  const Numbers offset_of(offsets, "offsets", INT64_MAX);
  const Numbers nbytes_of(sizes, "sizes", INT64_MAX);
  const Numbers kind_of(kinds, "kinds", static_cast<std::int64_t>(n_kinds) - 1);
  const std::size_t n = offset_of.size();
  if (nbytes_of.size() != n || kind_of.size() != n) {
    throw std::invalid_argument("columns of extracts have different lengths");
  }
  std::vector<Extract> extracts(n);
  for (std::size_t i = 0; i < n; ++i) {
    extracts[i] = {offset_of[i], nbytes_of[i], static_cast<std::uint32_t>(kind_of[i])};
  }
  return extracts;
}

class PyExtraction {
 public:
  PyExtraction(const std::vector<py::bytes>& paths, const py::object& states,
               const py::object& directory_of, const py::object& ends, const py::object& offsets,
               const py::object& sizes, const py::object& kind_of,
               const std::vector<std::pair<py::bytes, py::bytes>>& kinds,
               const std::vector<py::bytes>& directories, int output_directory, bool overwrite,
               int threads, std::optional<int> io_depth)
      : run_("the extraction",
             std::make_unique<Extraction>(to_plan(paths, states, directory_of, ends, offsets, sizes,
                                                  kind_of, kinds, directories),
                                          ExtractOptions{output_directory, overwrite,
                                                         parse_parallelism(threads, io_depth)})) {}

  void run(const py::object& on_progress, double interval_s) { run_.run(on_progress, interval_s); }

  ExtractProgress progress() const { return run_.progress(); }

  // A byte for each extract: that of its ExtractOutcome.
  py::bytes outcomes() {
    const std::vector<ExtractOutcome>& found = run_.ended().outcomes();
    return {reinterpret_cast<const char*>(found.data()), found.size()};
  }

 private:
  static ExtractPlan to_plan(const std::vector<py::bytes>& paths, const py::object& states,
                             const py::object& directory_of, const py::object& ends,
                             const py::object& offsets, const py::object& sizes,
                             const py::object& kind_of,
                             const std::vector<std::pair<py::bytes, py::bytes>>& kinds,
                             const std::vector<py::bytes>& directories) {
    ExtractPlan plan;
    plan.extracts = to_extracts(offsets, sizes, kind_of, kinds.size());
    plan.sources =
        to_sources(paths, states, directory_of, directories.size(), ends, plan.extracts.size());
    for (const auto& [suffix, head] : kinds) plan.kinds.push_back({check_path(suffix), head});
    plan.directories = to_paths(directories);
    return plan;
  }

  OneRun<Extraction> run_;
};

}  // namespace

void bind_extract(py::module_& module) {
  py::class_<ExtractProgress>(module, "ExtractProgress")
      .def_readonly("files_done", &ExtractProgress::files_done)
      .def_readonly("bytes_done", &ExtractProgress::bytes_done);
  py::class_<PyExtraction>(module, "Extraction")
      .def(py::init<const std::vector<py::bytes>&, const py::object&, const py::object&,
                    const py::object&, const py::object&, const py::object&, const py::object&,
                    const std::vector<std::pair<py::bytes, py::bytes>>&,
                    const std::vector<py::bytes>&, int, bool, int, std::optional<int>>(),
           py::kw_only(), py::arg("paths"), py::arg("states"), py::arg("directory_of"),
           py::arg("ends"), py::arg("offsets"), py::arg("sizes"), py::arg("kind_of"),
           py::arg("kinds"), py::arg("directories"), py::arg("output_directory"),
           py::arg("overwrite"), py::arg("threads"), py::arg("io_depth") = py::none())
      .def("run", &PyExtraction::run, py::arg("on_progress"), py::arg("interval_s"))
      .def("progress", &PyExtraction::progress)
      .def("outcomes", &PyExtraction::outcomes);
}

}  // namespace fastdump::bindings
