#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "bindings/bindings.hpp"
#include "bindings/contiguous_buffer.hpp"
#include "bindings/without_gil.hpp"
#include "core/errors.hpp"
#include "core/io/file.hpp"
#include "core/io/mapping.hpp"
#include "core/io/page_guard.hpp"

namespace fastdump::bindings {
namespace {

std::unique_ptr<Mapping> make_mapping(const py::bytes& path, std::int64_t state,
                                      bool copy_on_write) {
  const std::string name = path;
  // GIL: only C++ objects are touched; the file may be on a network.
  const WithoutGil released;
  using Access = Mapping::Access;
  return map_file(name, static_cast<FileState>(state),
                  copy_on_write ? Access::copy_on_write : Access::read_only);
}

py::buffer_info export_buffer(Mapping& mapping) {
  // No bytes have an address too: numpy takes nullptr for a request to allocate.
  static std::byte nothing{};
  // SAFETY: where the pages are read-only, so is the exported buffer.
  auto* data = mapping.nbytes() == 0 ? &nothing : const_cast<std::byte*>(mapping.data());
  return {data,
          1,
          py::format_descriptor<std::uint8_t>::format(),
          1,
          {static_cast<py::ssize_t>(mapping.nbytes())},
          {1},
          mapping.access() == Mapping::Access::read_only};
}

std::size_t read_into(const py::bytes& path, std::int64_t state, std::uint64_t offset,
                      const py::object& out) {
  const std::string name = path;
  const ContiguousBuffer buffer(out, ContiguousBuffer::Access::write);
  ReadResult result;
  {
    // GIL: `buffer` keeps the memory.
    const WithoutGil released;
    const OpenFile open(name, static_cast<FileState>(state));
    result = read_at(open.file, buffer.bytes(), offset);
    if (result.error != 0) throw SystemError(result.error, name);
    open.require_unchanged(name);
  }
  return result.nbytes;
}

void require_state(const py::bytes& path, std::int64_t state) {
  const std::string name = path;
  // GIL: only C++ objects are touched; the file may be on a network.
  const WithoutGil released;
  require_state_of_path(name, static_cast<FileState>(state));
}

std::int64_t file_state(int descriptor) {
  FileStatus status;
  const int result = retry_interrupted([&] { return system().status(descriptor, status); });
  if (result != 0) throw SystemError(-result, {});
  return static_cast<std::int64_t>(state_of(status));
}

// Lets Python read a mapping although its file may become shorter meanwhile.
class GuardedMapping {
 public:
  explicit GuardedMapping(py::object mapping)
      : mapping_(std::move(mapping)), bytes_(mapping_.cast<const Mapping&>()) {}

  const py::object& enter() {
    install_page_guard();
    guard_.emplace(bytes_.data(), bytes_.nbytes(), lost_);
    return mapping_;
  }
  void exit(const py::args&) { guard_.reset(); }
  bool lost() const { return lost_; }

 private:
  const py::object mapping_;
  const Mapping& bytes_;
  std::atomic<bool> lost_ = false;
  std::optional<PageGuard> guard_;
};

}  // namespace

void bind_mapping(py::module_& module) {
  py::class_<Mapping>(module, "MappedFile", py::buffer_protocol(), "A file in memory.")
      .def(py::init(&make_mapping), py::arg("path"), py::arg("state"),
           py::arg("copy_on_write") = false)
      .def_buffer(&export_buffer)
      .def_property_readonly("data", [](const py::object& self) { return py::memoryview(self); })
      .def_property_readonly("nbytes", &Mapping::nbytes);
  py::class_<GuardedMapping>(module, "GuardedMapping",
                             "A mapping that one thread reads while its file may become shorter.")
      .def(py::init<py::object>(), py::arg("mapping"))
      .def("__enter__", &GuardedMapping::enter)
      .def("__exit__", &GuardedMapping::exit)
      .def_property_readonly("lost", &GuardedMapping::lost);
  module.def("file_state", &file_state, py::arg("descriptor"),
             "The state of an open file, as describe_file() tells it.");
  module.def("require_state", &require_state, py::arg("path"), py::arg("state"),
             "Raise FileChangedError if the file is not in the state in which it was described.");
  module.def("read_into", &read_into, py::arg("path"), py::arg("state"), py::arg("offset"),
             py::arg("out"),
             "Fill a buffer from a place in a file; the bytes read, fewer where the file ends.");
}

}  // namespace fastdump::bindings
