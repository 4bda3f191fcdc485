// Copies boxes of elements between two strided arrangements. Bytes move, numbers do not: an element
// is some bytes, of whatever type. Boxes that both sides hold in runs, and boxes that one side
// holds transposed, move at near the speed of memory.
#pragma once

#include <cstddef>

namespace fastdump::kernels {

// One dimension of a box: how many elements, and how far apart they lie, in elements.
struct CopyDim {
  std::size_t n;
  std::size_t from;
  std::size_t to;
};

inline constexpr int kMaxCopyDims = 16;

// Whether what is written will be read soon, or is too large for the cache to keep.
enum class Destination { cached, streamed };

// Copies every element of a box of n_dims <= kMaxCopyDims dimensions, in any order. No two places
// in `to` are the same, and none is in `from`.
void copy_strided(const std::byte* from, std::byte* to, const CopyDim* dims, int n_dims,
                  std::size_t element_nbytes, Destination destination);

}  // namespace fastdump::kernels
