// Positions of files in an index, as numpy has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "bindings/bindings.hpp"
#include "bindings/contiguous_buffer.hpp"
#include "core/tree/index.hpp"

namespace fastdump::bindings {

class Positions {
 public:
  // Takes a contiguous buffer of unsigned 32-bit integers, none of them outside `index`. Throws
  // std::invalid_argument, std::out_of_range, and what ContiguousBuffer throws.
  Positions(const py::object& exporter, const Index& index) : buffer_(exporter) {
    if (!buffer_.holds<std::uint32_t>()) {
      throw std::invalid_argument("positions are contiguous unsigned 32-bit integers");
    }
    for (const std::uint32_t position : view()) check_position(index, position);
  }

  Index::PositionsView view() const {
    // SAFETY: the buffer holds aligned numbers of this type.
    return {reinterpret_cast<const std::uint32_t*>(buffer_.data()),
            buffer_.nbytes() / sizeof(std::uint32_t)};
  }

  static void check_position(const Index& index, std::size_t position) {
    if (position >= index.size()) throw std::out_of_range("there is no such position");
  }

 private:
  ContiguousBuffer buffer_;
};

}  // namespace fastdump::bindings
