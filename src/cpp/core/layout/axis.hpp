// How the elements along one axis of a host array lie in the stored tensor.
#pragma once

#include <cstdint>

namespace fastdump {

// Element i lies at j / inner * outer_stride + j % inner * inner_stride from the first, where j is
// i + phase. The sum over all axes is an element's place.
//
// Only weights of a grouped convolution have phases: groups share a block, the channels of each
// behind those of the one before. There, phase is phase_step times (index % inner) of the group
// axis.
struct Axis {
  std::uint64_t n = 1;
  std::uint64_t inner = 1;
  std::uint64_t inner_stride = 0;
  std::uint64_t outer_stride = 0;
  std::uint64_t phase_step = 0;
  bool is_group = false;

  bool is_simple() const { return n <= inner && phase_step == 0 && !is_group; }
  bool operator==(const Axis&) const = default;
};

constexpr Axis simple_axis(std::uint64_t n, std::uint64_t stride) { return {n, n, stride, 0}; }

// Blocks of `inner` elements.
constexpr Axis split_axis(std::uint64_t n, std::uint64_t inner, std::uint64_t inner_stride,
                          std::uint64_t outer_stride) {
  if (n <= inner || outer_stride == inner * inner_stride) return simple_axis(n, inner_stride);
  return {n, inner, inner_stride, outer_stride};
}

}  // namespace fastdump
