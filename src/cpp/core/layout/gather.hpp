// Elements of a stored tensor, copied into the order of the host array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/layout/axis.hpp"
#include "kernels/strided_copy.hpp"

namespace fastdump {

inline constexpr std::size_t kMaxAxes = kernels::kMaxCopyDims / 2;

// Copies elements [first, first + n), in row-major order, of a host array whose kMaxAxes axes or
// fewer lie in the elements at `from` as told.
void gather(std::span<const Axis> axes, const std::byte* from, std::size_t element_nbytes,
            std::uint64_t first, std::uint64_t n, std::byte* to, kernels::Destination destination);

}  // namespace fastdump
