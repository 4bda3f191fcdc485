#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/one_run.hpp"
#include "bindings/positions.hpp"
#include "bindings/py_table.hpp"
#include "bindings/without_gil.hpp"
#include "core/scan/scan.hpp"
#include "core/scan/scan_table.hpp"

namespace fastdump::bindings {
namespace {

ScanOptions parse_options(const std::string& level, int threads, std::optional<int> io_depth,
                          const std::string& engine, bool logical, const Selection& selection) {
  ScanOptions options;
  if (level != "header") options.level = parse_level(level);
  options.parallelism = parse_parallelism(threads, io_depth);
  options.engine = parse_engine(engine);
  options.logical = logical;
  options.selection = selection;
  return options;
}

class PyScan {
 public:
  PyScan(const std::vector<py::bytes>& paths, const std::string& level, int threads,
         std::optional<int> io_depth, const std::string& engine, bool logical, bool follow_links,
         const Selection& selection)
      : run_("the scan",
             new_scan(paths, follow_links,
                      parse_options(level, threads, io_depth, engine, logical, selection))) {}

  PyScan(const Index& index, const py::object& positions, const std::string& level, int threads,
         std::optional<int> io_depth, const std::string& engine, bool logical,
         const Selection& selection, bool digests)
      : run_("the scan",
             new_scan(index, positions, digests,
                      parse_options(level, threads, io_depth, engine, logical, selection))) {}

  void run(const py::object& on_progress, double interval_s) { run_.run(on_progress, interval_s); }

  ScanProgress progress() const { return run_.progress(); }

  // The same table each time.
  PyTable table() {
    Scan& scan = run_.ended();
    // GIL: the rows of a scan that has ended are C++ objects, and the lock keeps other threads out.
    const WithoutGil released;
    const std::lock_guard lock(mutex_);
    if (!table_) table_.emplace(make_table(scan));
    return *table_;
  }

  SkippedFiles skipped() { return run_.ended().tree().skipped; }

  // Of each directory what rows show of it, its state, whether a file in it may be unfinished, and
  // what was skipped in it.
  py::list directories() {
    py::list list;
    const AppendOnly<Directory>& found = run_.ended().tree().directories();
    for (std::size_t i = 0; i < found.size(); ++i) {
      const Directory& directory = found[i];
      list.append(py::make_tuple(to_text(directory.relative), directory.state, directory.has_damage,
                                 directory.skipped));
    }
    return list;
  }

 private:
  static std::unique_ptr<Scan> new_scan(const std::vector<py::bytes>& paths, bool follow_links,
                                        ScanOptions options) {
    options.walk.follow_links = follow_links;
    return std::make_unique<Scan>(to_paths(paths), std::move(options));
  }

  static std::unique_ptr<Scan> new_scan(const Index& index, const py::object& positions,
                                        bool digests, ScanOptions options) {
    if (digests && options.level) throw std::invalid_argument("digests are of level header only");
    options.digests = digests;
    return std::make_unique<Scan>(index.tree(Positions(positions, index).view()),
                                  std::move(options));
  }

  OneRun<Scan> run_;
  std::mutex mutex_;
  std::optional<PyTable> table_;
};

}  // namespace

Engine parse_engine(const std::string& text) {
  if (text == "auto") return Engine::automatic;
  if (text == "mmap") return Engine::mmap;
  if (text == "read") return Engine::read;
  throw std::invalid_argument("engine is \"" + text + "\"; it must be auto, mmap or read");
}

Parallelism parse_parallelism(int threads, std::optional<int> io_depth) {
  check_threads(threads);
  if (!io_depth) return {threads, default_io_depth()};
  if (*io_depth >= 1 && *io_depth <= kMaxThreads) return {threads, io_depth};
  throw std::invalid_argument("io_depth is " + std::to_string(*io_depth) +
                              "; it must be from 1 to " + std::to_string(kMaxThreads));
}

std::string check_path(const py::bytes& path) {
  std::string text(path);
  if (text.find('\0') == std::string::npos) return text;
  throw std::invalid_argument("a path contains a null byte");
}

void bind_scan(py::module_& module) {
  py::class_<ScanProgress>(module, "Progress")
      .def_readonly("walking", &ScanProgress::walking)
      .def_readonly("files_found", &ScanProgress::files_found)
      .def_readonly("files_done", &ScanProgress::files_done)
      .def_readonly("bytes_done", &ScanProgress::bytes_done)
      .def_readonly("tensors", &ScanProgress::tensors)
      .def_readonly("bad", &ScanProgress::bad)
      .def(py::pickle(
          [](const ScanProgress& progress) {
            return py::make_tuple(progress.walking, progress.files_found, progress.files_done,
                                  progress.bytes_done, progress.tensors, progress.bad);
          },
          [](const py::tuple& state) {
            return ScanProgress{state[0].cast<bool>(),          state[1].cast<std::uint64_t>(),
                                state[2].cast<std::uint64_t>(), state[3].cast<std::uint64_t>(),
                                state[4].cast<std::uint64_t>(), state[5].cast<std::uint64_t>()};
          }));
  py::class_<PyScan>(module, "Scan")
      .def(py::init<const std::vector<py::bytes>&, const std::string&, int, std::optional<int>,
                    const std::string&, bool, bool, const Selection&>(),
           py::arg("paths"), py::kw_only(), py::arg("level"), py::arg("threads"),
           py::arg("io_depth") = py::none(), py::arg("engine"), py::arg("logical"),
           py::arg("follow_links"), py::arg("selection"))
      .def(py::init<const Index&, const py::object&, const std::string&, int, std::optional<int>,
                    const std::string&, bool, const Selection&, bool>(),
           py::arg("index"), py::arg("positions"), py::kw_only(), py::arg("level"),
           py::arg("threads"), py::arg("io_depth") = py::none(), py::arg("engine"),
           py::arg("logical"), py::arg("selection"), py::arg("digests") = false)
      .def("run", &PyScan::run, py::arg("on_progress"), py::arg("interval_s"))
      .def("progress", &PyScan::progress)
      .def("table", &PyScan::table)
      .def("skipped", &PyScan::skipped)
      .def("directories", &PyScan::directories);
}

}  // namespace fastdump::bindings
