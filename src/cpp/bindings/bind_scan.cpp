#include <chrono>
#include <memory>
#include <stdexcept>
#include <vector>

#include "bindings/bindings.hpp"
#include "core/scan/scan.hpp"
#include "core/table/arrow.hpp"

namespace fastdump::bindings {
namespace {

// Ctrl-C is answered within this time.
constexpr double kMaxWait = 0.1;  // seconds

Engine parse_engine(const std::string& text) {
  if (text == "auto") return Engine::automatic;
  if (text == "mmap") return Engine::mmap;
  if (text == "read") return Engine::read;
  throw std::invalid_argument("io is \"" + text + "\"; it must be auto, mmap or read");
}

Io parse_io(const std::string& text) {
  for (const Io io : {Io::input, Io::output, Io::buffer, Io::space}) {
    if (text == to_string(io)) return io;
  }
  throw std::invalid_argument("tensor is \"" + text +
                              "\"; it must be input, output, buffer or space");
}

ScanOptions parse_options(const std::string& level, int threads, const std::string& io,
                          const std::vector<std::string>& tensor) {
  ScanOptions options;
  if (level != "header") options.level = parse_level(level);
  options.threads = check_threads(threads);
  options.engine = parse_engine(io);
  for (const std::string& name : tensor) options.selection.tensor.push_back(parse_io(name));
  return options;
}

template <class Struct>
py::capsule to_capsule(std::unique_ptr<Struct> exported, const char* name) {
  // Whoever imports the struct marks it released; otherwise the capsule releases it.
  const auto destroy = [](PyObject* object) {
    auto* owned = static_cast<Struct*>(PyCapsule_GetPointer(object, PyCapsule_GetName(object)));
    if (owned->release != nullptr) owned->release(owned);
    delete owned;
  };
  PyObject* capsule = PyCapsule_New(exported.get(), name, destroy);
  if (capsule == nullptr) throw py::error_already_set();
  exported.release();
  return py::reinterpret_steal<py::capsule>(capsule);
}

class PyTable {
 public:
  explicit PyTable(Table table) : table_(std::make_shared<const Table>(std::move(table))) {}

  py::tuple arrow_c_array(const py::object& requested_schema) const {
    // A request is a wish by the protocol; the table has one schema.
    static_cast<void>(requested_schema);
    auto schema = std::make_unique<ArrowSchema>();
    export_schema(*table_, *schema);
    auto array = std::make_unique<ArrowArray>();
    export_array(table_, *array);
    return py::make_tuple(to_capsule(std::move(schema), "arrow_schema"),
                          to_capsule(std::move(array), "arrow_array"));
  }

 private:
  std::shared_ptr<const Table> table_;
};

class PyScan {
 public:
  PyScan(const std::vector<py::bytes>& paths, const std::string& level, int threads,
         const std::string& io, bool logical, bool follow_links, std::vector<std::string> op_type,
         std::vector<std::string> op_name, std::vector<std::int64_t> step,
         std::vector<std::int64_t> rank, const std::vector<std::string>& tensor) {
    ScanOptions options = parse_options(level, threads, io, tensor);
    options.logical = logical;
    options.walk.follow_links = follow_links;
    options.selection.op_type = std::move(op_type);
    options.selection.op_name = std::move(op_name);
    options.selection.step = std::move(step);
    options.selection.rank = std::move(rank);
    scan_ = std::make_unique<Scan>(to_paths(paths), std::move(options));
  }

  PyScan(const Index& index, const py::buffer& positions, const std::string& level, int threads,
         const std::string& io, const std::vector<std::string>& tensor) {
    const py::buffer_info buffer = positions.request();
    scan_ = std::make_unique<Scan>(index.tree(to_positions(buffer, index)),
                                   parse_options(level, threads, io, tensor));
  }

  void run(const py::object& on_progress, double interval_s) {
    if (started_) throw std::runtime_error("a scan runs once");
    started_ = true;
    scan_->start();
    using Seconds = std::chrono::duration<double>;
    auto last = std::chrono::steady_clock::now();
    try {
      while (!wait(Seconds(std::min(interval_s, kMaxWait)))) {
        if (PyErr_CheckSignals() != 0) throw py::error_already_set();
        const auto now = std::chrono::steady_clock::now();
        if (on_progress.is_none() || Seconds(now - last).count() < interval_s) continue;
        last = now;
        on_progress(scan_->progress());
      }
      if (!on_progress.is_none()) on_progress(scan_->progress());
    } catch (py::error_already_set&) {
      // What was finished stays readable; nothing runs on behind the caller's back.
      const py::gil_scoped_release release;
      scan_->stop();
      throw;
    }
  }

  ScanProgress progress() const { return scan_->progress(); }

  PyTable table() const {
    // GIL: the scan has ended, its rows are C++ objects that nobody changes.
    const py::gil_scoped_release release;
    return PyTable(make_table(*scan_));
  }

  SkippedFiles skipped() const { return scan_->tree().skipped; }

 private:
  bool wait(std::chrono::duration<double> timeout) {
    // GIL: waiting touches no Python object.
    const py::gil_scoped_release release;
    return scan_->wait_for(std::chrono::duration_cast<std::chrono::milliseconds>(timeout));
  }

  std::unique_ptr<Scan> scan_;
  bool started_ = false;
};

}  // namespace

void bind_scan(py::module_& module) {
  py::class_<ScanProgress>(module, "Progress")
      .def_readonly("walking", &ScanProgress::walking)
      .def_readonly("files_found", &ScanProgress::files_found)
      .def_readonly("files_done", &ScanProgress::files_done)
      .def_readonly("bytes_done", &ScanProgress::bytes_done)
      .def_readonly("tensors", &ScanProgress::tensors)
      .def_readonly("bad", &ScanProgress::bad);
  py::class_<PyTable>(module, "Table")
      .def("__arrow_c_array__", &PyTable::arrow_c_array, py::arg("requested_schema") = py::none());
  py::class_<PyScan>(module, "Scan")
      .def(py::init<const std::vector<py::bytes>&, const std::string&, int, const std::string&,
                    bool, bool, std::vector<std::string>, std::vector<std::string>,
                    std::vector<std::int64_t>, std::vector<std::int64_t>,
                    const std::vector<std::string>&>(),
           py::arg("paths"), py::kw_only(), py::arg("level"), py::arg("threads"), py::arg("io"),
           py::arg("logical") = false, py::arg("follow_links"), py::arg("op_type"),
           py::arg("op_name"), py::arg("step"), py::arg("rank"), py::arg("tensor"))
      .def(py::init<const Index&, const py::buffer&, const std::string&, int, const std::string&,
                    const std::vector<std::string>&>(),
           py::arg("index"), py::arg("positions"), py::kw_only(), py::arg("level"),
           py::arg("threads"), py::arg("io"), py::arg("tensor"))
      .def("run", &PyScan::run, py::arg("on_progress"), py::arg("interval_s"))
      .def("progress", &PyScan::progress)
      .def("table", &PyScan::table)
      .def("skipped", &PyScan::skipped);
}

}  // namespace fastdump::bindings
