// How each tensor format arranges elements: the formats whose inverse some source tells.
#pragma once

#include <cstdint>
#include <optional>

namespace fastdump {

enum class Scheme : std::uint8_t {
  plain,  // stored as the host has it
  // Feature maps and the weights of convolutions:
  nc1hwc0,
  ndc1hwc0,
  fractal_z,
  fractal_z_3d,
  fractal_z_c04,
  c1hwncoc0,
  // Matrices, the last two of any axes:
  fractal_nz,
  fractal_zz,
};

// Empty for formats without a documented inverse, and for unknown numbers.
std::optional<Scheme> find_scheme(std::int64_t format);

constexpr bool is_matrix(Scheme scheme) {
  return scheme == Scheme::fractal_nz || scheme == Scheme::fractal_zz;
}

// Whether tensors have an axis D.
constexpr bool is_3d(Scheme scheme) {
  return scheme == Scheme::ndc1hwc0 || scheme == Scheme::fractal_z_3d;
}

}  // namespace fastdump
