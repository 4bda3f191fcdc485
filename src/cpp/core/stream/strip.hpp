// The elements of one tensor by where they lie in a source: a strip of packed elements, or elements
// that have to be gathered from all over a stored tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/layout/logical_elements.hpp"
#include "core/size.hpp"
#include "core/stream/source.hpp"

namespace fastdump {

struct Strip {
  std::uint64_t offset = 0;  // of the first byte in the source
  int bits = 8;              // of an element
  // The elements of a host array that lie in another order, or among others; nullptr: as stored.
  std::shared_ptr<const LogicalElements> gathered;

  std::uint64_t nbytes(std::uint64_t n) const { return packed_nbytes(n, bits); }
  // Of elements that are not gathered; `first` is a multiple of eight.
  std::uint64_t offset_of(std::uint64_t first) const {
    return offset + first / 8 * static_cast<std::uint64_t>(bits);
  }
};

// Elements that were asked for and were not to be had.
struct Shortage {
  std::uint64_t n = 0;
  int error = 0;  // errno; 0: the source ends

  void add(const Shortage& other) {
    n += other.n;
    if (other.error != 0) error = other.error;
  }
};

// Which of the first n elements the source is too short for. Of gathered ones all are there or none
// is.
Shortage shortage_of(const Source& source, const Strip& strip, std::uint64_t n);

struct ReadElements {
  const std::byte* data = nullptr;
  std::size_t n = 0;  // fewer than asked for: the source ends, or error is set
  int error = 0;      // errno
};

// Elements [first, first + n), packed and in order, as many of them as there are; `first` is a
// multiple of eight, and `buffer` has room for all. They are in it, or where the source keeps them.
// Of gathered ones all are there or none is.
ReadElements read_elements(Source& source, const Strip& strip, std::uint64_t first, std::size_t n,
                           std::span<std::byte> buffer);

// Gives back the memory that gathering has taken; after the last of the elements.
void drop_gathered(const Source& source, const Strip& strip);

}  // namespace fastdump
