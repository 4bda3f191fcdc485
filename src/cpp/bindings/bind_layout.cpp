#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/contiguous_buffer.hpp"
#include "bindings/without_gil.hpp"
#include "core/arrays/gather_array.hpp"
#include "core/layout/host_layout.hpp"
#include "core/size.hpp"

namespace fastdump::bindings {
namespace {

using Dims = std::vector<std::int64_t>;

HostLayout make_layout(std::int64_t format, const Dims& shape, const Dims& origin_shape,
                       std::int64_t sub_format, const std::string& order,
                       const std::string& origin_format) {
  return HostLayout({format, shape, origin_shape, sub_format}, order, origin_format);
}

void gather(const HostLayout& layout, const py::object& stored, const py::object& out,
            std::size_t element_nbytes, std::uint64_t first, std::uint64_t n, int threads) {
  check_threads(threads);
  if (element_nbytes == 0) throw std::invalid_argument("elements of 0 bytes");
  if (first > layout.n_elements() || n > layout.n_elements() - first) {
    throw std::invalid_argument("the host array has " + std::to_string(layout.n_elements()) +
                                " elements, too few for " + std::to_string(n) + " from " +
                                std::to_string(first) + " on");
  }
  const ContiguousBuffer from(stored);
  const ContiguousBuffer to(out, ContiguousBuffer::Access::write);
  from.check_nbytes("stored", multiply(layout.n_stored(), element_nbytes));
  to.check_nbytes("out", multiply(n, element_nbytes));
  // GIL: both buffers keep their memory.
  const WithoutGil released;
  gather_array(layout, from.data(), element_nbytes, first, n, to.data(), threads);
}

}  // namespace

void bind_layout(py::module_& module) {
  py::class_<HostLayout>(module, "HostLayout")
      .def(py::init(&make_layout), py::kw_only(), py::arg("format"), py::arg("shape"),
           py::arg("origin_shape"), py::arg("sub_format"), py::arg("order"),
           py::arg("origin_format"))
      .def_property_readonly(
          "shape", [](const HostLayout& layout) { return py::tuple(py::cast(layout.shape())); })
      .def_property_readonly("order", &HostLayout::order)
      .def_property_readonly("is_identity", &HostLayout::is_identity)
      .def_property_readonly("n_elements", &HostLayout::n_elements)
      .def_property_readonly("n_stored", &HostLayout::n_stored)
      .def("gather", &gather, py::arg("stored"), py::arg("out"), py::arg("element_nbytes"),
           py::arg("first"), py::arg("n"), py::arg("threads"));
  module.def("is_private_format", &is_private_format, py::arg("format"),
             "Whether elements may lie in another order than the host's, or among padding.");
}

}  // namespace fastdump::bindings
