#include <memory>

#include "bindings/bindings.hpp"
#include "bindings/contiguous_buffer.hpp"
#include "core/errors.hpp"
#include "core/io/file.hpp"
#include "core/io/mapping.hpp"

namespace fastdump::bindings {
namespace {

std::unique_ptr<Mapping> make_mapping(const py::bytes& path, bool copy_on_write) {
  const std::string name = path;
  // GIL: only C++ objects are touched; the file may be on a network.
  const py::gil_scoped_release release;
  using Access = Mapping::Access;
  return map_file(name, copy_on_write ? Access::copy_on_write : Access::read_only);
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

std::size_t read_into(const py::bytes& path, std::uint64_t offset, const py::object& out) {
  const std::string name = path;
  const ContiguousBuffer buffer(out, ContiguousBuffer::Access::write);
  ReadResult result;
  {
    // GIL: `buffer` keeps the memory.
    const py::gil_scoped_release release;
    const OpenFile open(name);
    result = read_at(open.file, buffer.bytes(), offset);
  }
  if (result.error != 0) throw SystemError(result.error, name);
  return result.nbytes;
}

}  // namespace

void bind_mapping(py::module_& module) {
  py::class_<Mapping>(module, "MappedFile", py::buffer_protocol(), "A file in memory.")
      .def(py::init(&make_mapping), py::arg("path"), py::arg("copy_on_write") = false)
      .def_buffer(&export_buffer)
      .def_property_readonly("data", [](const py::object& self) { return py::memoryview(self); })
      .def_property_readonly("nbytes", &Mapping::nbytes);
  module.def("read_into", &read_into, py::arg("path"), py::arg("offset"), py::arg("out"),
             "Fill a buffer from a place in a file; the bytes read, fewer where the file ends.");
}

}  // namespace fastdump::bindings
