// The bytes of a Python object that exports the buffer protocol: contiguous, and neither freed nor
// resized while this lives. Made and destroyed with the GIL held; the bytes may be used without.
#pragma once

#include <cstddef>
#include <span>

#include "bindings/bindings.hpp"

namespace fastdump::bindings {

class ContiguousBuffer {
 public:
  enum class Access { read, write };

  // Throws the BufferError or TypeError of an object that has no such bytes.
  explicit ContiguousBuffer(const py::object& exporter, Access access = Access::read) {
    const int flags = access == Access::write ? PyBUF_WRITABLE : PyBUF_SIMPLE;
    if (PyObject_GetBuffer(exporter.ptr(), &view_, flags) != 0) throw py::error_already_set();
  }
  ~ContiguousBuffer() { PyBuffer_Release(&view_); }
  ContiguousBuffer(const ContiguousBuffer&) = delete;
  ContiguousBuffer& operator=(const ContiguousBuffer&) = delete;

  std::byte* data() const { return static_cast<std::byte*>(view_.buf); }
  std::size_t nbytes() const { return static_cast<std::size_t>(view_.len); }
  std::span<std::byte> bytes() const { return {data(), nbytes()}; }

 private:
  Py_buffer view_;
};

}  // namespace fastdump::bindings
