// Packed elements that lie in memory, one code a byte.
#pragma once

#include <cstddef>

#include "kernels/element.hpp"

namespace fastdump {

// Whether elements are narrower than a byte, so that unpack() has something to do.
bool is_packed(kernels::Element element);

// Writes the n packed elements at data as n codes, in the low bits of a byte each, by up to
// `threads` threads. Wrong for elements that are not packed.
void unpack(kernels::Element element, const std::byte* data, std::size_t n, std::byte* out,
            int threads);

}  // namespace fastdump
