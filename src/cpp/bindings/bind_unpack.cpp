#include <stdexcept>

#include "bindings/bindings.hpp"
#include "bindings/contiguous_buffer.hpp"
#include "bindings/without_gil.hpp"
#include "core/arrays/unpack.hpp"
#include "core/dtype.hpp"
#include "core/size.hpp"

namespace fastdump::bindings {
namespace {

void unpack_buffer(const py::object& data, const std::string& dtype, std::size_t n_elements,
                   const py::object& out, int threads) {
  const DataType* type = find_data_type(std::string_view(dtype));
  if (type == nullptr || !is_packed(type->element)) {
    throw std::invalid_argument("there is nothing to unpack in elements of \"" + dtype + "\"");
  }
  check_threads(threads);
  const ContiguousBuffer packed(data);
  const ContiguousBuffer codes(out, ContiguousBuffer::Access::write);
  packed.check_nbytes("data", packed_nbytes(n_elements, type->bits));
  codes.check_nbytes("out", n_elements);
  // GIL: both buffers keep their memory.
  const WithoutGil released;
  unpack(type->element, packed.data(), n_elements, codes.data(), threads);
}

}  // namespace

void bind_unpack(py::module_& module) {
  module.def("unpack", &unpack_buffer, py::arg("data"), py::arg("dtype"), py::arg("n_elements"),
             py::arg("out"), py::arg("threads"),
             "Write packed elements as codes, in the low bits of a byte each.");
}

}  // namespace fastdump::bindings
