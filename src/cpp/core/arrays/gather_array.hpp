// A host array from a stored tensor that lies in memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/layout/host_layout.hpp"

namespace fastdump {

// Elements [first, first + n) of the host array, in row-major order, by up to `threads` threads.
void gather_array(const HostLayout& layout, const std::byte* stored, std::size_t element_nbytes,
                  std::uint64_t first, std::uint64_t n, std::byte* to, int threads);

}  // namespace fastdump
