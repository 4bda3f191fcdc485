// Statistics of elements that lie in memory.
#pragma once

#include <cstddef>

#include "kernels/partial.hpp"

namespace fastdump {

// n packed elements at data, by up to `threads` threads. Throws FileChangedError if they lie in a
// mapping whose file has become shorter; so do all functions that take arrays.
kernels::Statistics reduce_array(kernels::Element element, kernels::Level level,
                                 const std::byte* data, std::size_t n, int threads);

}  // namespace fastdump
