#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/contiguous_buffer.hpp"
#include "bindings/without_gil.hpp"
#include "core/arrays/text_codes.hpp"

namespace fastdump::bindings {
namespace {

template <class Number>
std::span<Number> numbers_in(const ContiguousBuffer& buffer) {
  // SAFETY: callers ask before whether the buffer holds aligned numbers of this type.
  return {reinterpret_cast<Number*>(buffer.data()), buffer.nbytes() / sizeof(Number)};
}

py::bytes text_codes(const py::object& ends, const py::object& texts, const py::object& is_null,
                     const py::object& codes) {
  const ContiguousBuffer end(ends);
  const ContiguousBuffer text(texts);
  const ContiguousBuffer null(is_null);
  const ContiguousBuffer code(codes, ContiguousBuffer::Access::write);
  const bool is_wide = end.holds<std::int64_t>();
  if (!is_wide && !end.holds<std::int32_t>()) {
    throw std::invalid_argument("ends are integers of 32 or 64 bits");
  }
  if (!code.holds<std::int32_t>()) throw std::invalid_argument("codes are 32-bit integers");
  std::vector<std::int64_t> first_rows;
  {
    // GIL: all buffers keep their memory, and only the codes are written to.
    const WithoutGil released;
    const auto flags = numbers_in<const std::uint8_t>(null);
    const auto to = numbers_in<std::int32_t>(code);
    first_rows = is_wide ? code_texts(numbers_in<const std::int64_t>(end), text.bytes(), flags, to)
                         : code_texts(numbers_in<const std::int32_t>(end), text.bytes(), flags, to);
  }
  return {reinterpret_cast<const char*>(first_rows.data()),
          first_rows.size() * sizeof(first_rows[0])};
}

}  // namespace

void bind_text_codes(py::module_& module) {
  module.def("text_codes", &text_codes, py::arg("ends"), py::arg("texts"), py::arg("is_null"),
             py::arg("codes"),
             "Write texts as indices into the distinct ones, and return the first row of each.");
}

}  // namespace fastdump::bindings
