#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bindings/background_run.hpp"
#include "bindings/bindings.hpp"
#include "bindings/py_table.hpp"
#include "core/scan/scan.hpp"
#include "core/scan/scan_table.hpp"

namespace fastdump::bindings {
namespace {

ScanOptions parse_options(const std::string& level, int threads, const std::string& engine,
                          bool logical, const Selection& selection) {
  ScanOptions options;
  if (level != "header") options.level = parse_level(level);
  options.threads = check_threads(threads);
  options.engine = parse_engine(engine);
  options.logical = logical;
  options.selection = selection;
  return options;
}

class PyScan {
 public:
  PyScan(const std::vector<py::bytes>& paths, const std::string& level, int threads,
         const std::string& engine, bool logical, bool follow_links, const Selection& selection) {
    ScanOptions options = parse_options(level, threads, engine, logical, selection);
    options.walk.follow_links = follow_links;
    scan_ = std::make_unique<Scan>(to_paths(paths), std::move(options));
  }

  PyScan(const Index& index, const py::buffer& positions, const std::string& level, int threads,
         const std::string& engine, bool logical, const Selection& selection) {
    const py::buffer_info buffer = positions.request();
    scan_ = std::make_unique<Scan>(index.tree(to_positions(buffer, index)),
                                   parse_options(level, threads, engine, logical, selection));
  }

  void run(const py::object& on_progress, double interval_s) {
    if (std::exchange(started_, true)) throw std::runtime_error("a scan runs once");
    run_in_background(*scan_, on_progress, interval_s);
  }

  ScanProgress progress() const { return scan_->progress(); }

  PyTable table() const {
    // GIL: the scan has ended, its rows are C++ objects that nobody changes.
    const py::gil_scoped_release release;
    return PyTable(make_table(*scan_));
  }

  SkippedFiles skipped() const { return scan_->tree().skipped; }

 private:
  std::unique_ptr<Scan> scan_;
  bool started_ = false;
};

}  // namespace

Engine parse_engine(const std::string& text) {
  if (text == "auto") return Engine::automatic;
  if (text == "mmap") return Engine::mmap;
  if (text == "read") return Engine::read;
  throw std::invalid_argument("engine is \"" + text + "\"; it must be auto, mmap or read");
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
      .def_readonly("bad", &ScanProgress::bad);
  py::class_<PyScan>(module, "Scan")
      .def(py::init<const std::vector<py::bytes>&, const std::string&, int, const std::string&,
                    bool, bool, const Selection&>(),
           py::arg("paths"), py::kw_only(), py::arg("level"), py::arg("threads"), py::arg("engine"),
           py::arg("logical"), py::arg("follow_links"), py::arg("selection"))
      .def(py::init<const Index&, const py::buffer&, const std::string&, int, const std::string&,
                    bool, const Selection&>(),
           py::arg("index"), py::arg("positions"), py::kw_only(), py::arg("level"),
           py::arg("threads"), py::arg("engine"), py::arg("logical"), py::arg("selection"))
      .def("run", &PyScan::run, py::arg("on_progress"), py::arg("interval_s"))
      .def("progress", &PyScan::progress)
      .def("table", &PyScan::table)
      .def("skipped", &PyScan::skipped);
}

}  // namespace fastdump::bindings
