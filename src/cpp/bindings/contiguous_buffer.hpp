// The bytes of a Python object that exports the buffer protocol: contiguous in C order, and neither
// freed nor resized while this lives. Made and destroyed with the GIL held; the bytes may be used
// without. The one way in which bindings take memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "bindings/bindings.hpp"

namespace fastdump::bindings {

class ContiguousBuffer {
 public:
  enum class Access { read, write };

  // Throws the TypeError, BufferError or ValueError of an object that has no such bytes, because it
  // has none, they are strided, or they are to be written and are read-only. Refuses references to
  // Python objects, which numpy exports as bytes.
  explicit ContiguousBuffer(const py::object& exporter, Access access = Access::read) {
    const int flags = PyBUF_ND | PyBUF_FORMAT | (access == Access::write ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(exporter.ptr(), &view_, flags) != 0) throw py::error_already_set();
    if (view_.format == nullptr || std::string_view(view_.format).find('O') == std::string::npos) {
      return;
    }
    PyBuffer_Release(&view_);
    throw std::invalid_argument("Python objects are no bytes");
  }
  ~ContiguousBuffer() { PyBuffer_Release(&view_); }
  ContiguousBuffer(const ContiguousBuffer&) = delete;
  ContiguousBuffer& operator=(const ContiguousBuffer&) = delete;

  std::byte* data() const { return static_cast<std::byte*>(view_.buf); }
  std::size_t nbytes() const { return static_cast<std::size_t>(view_.len); }
  std::span<std::byte> bytes() const { return {data(), nbytes()}; }

  // Whether the buffer is a row of numbers of this type, at their alignment.
  template <class Number>
  bool holds() const {
    const py::buffer_info info(const_cast<Py_buffer*>(&view_), false);
    return info.ndim == 1 && info.item_type_is_equivalent_to<Number>() &&
           reinterpret_cast<std::uintptr_t>(view_.buf) % alignof(Number) == 0;
  }

  // Throws std::invalid_argument, which calls the buffer `name`, if there are fewer bytes.
  void check_nbytes(const char* name, std::uint64_t needed) const {
    if (nbytes() >= needed) return;
    throw std::invalid_argument(std::string(name) + " has " + std::to_string(nbytes()) +
                                " bytes, " + std::to_string(needed) + " are needed");
  }

 private:
  Py_buffer view_;
};

}  // namespace fastdump::bindings
