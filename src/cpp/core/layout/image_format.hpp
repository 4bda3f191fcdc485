// The private formats of feature maps and of the weights of convolutions: what shape a tensor is
// stored in, and where in it each element lies. One formula a format. The sizes of blocks depend on
// the hardware: they are taken from the stored shape.
#pragma once

#include <cstdint>
#include <optional>

#include "core/layout/axis.hpp"
#include "core/layout/scheme.hpp"
#include "core/size.hpp"

namespace fastdump {

// How long the axes of the host array are.
struct Extents {
  std::uint64_t n = 1;
  std::uint64_t c = 1;
  std::uint64_t d = 1;
  std::uint64_t h = 1;
  std::uint64_t w = 1;
};

struct ImageAxes {
  std::optional<Axis> group;
  Axis n;  // of one group, if there are groups
  Axis c;
  Axis d;
  Axis h;  // FRACTAL_Z_C04: of H and W, if both are longer than 1
  Axis w;
};

class ImageFormat {
 public:
  // `groups` is that of a grouped convolution. Throws LayoutError for a shape of another number of
  // dimensions, or without blocks.
  ImageFormat(Scheme scheme, Shape stored_shape, std::uint64_t groups);

  // The shape that a tensor of these extents is stored in, with blocks of the same size; empty if
  // the format cannot hold it.
  Shape shape_for(const Extents& extents) const;
  // Where the elements lie, if that is the stored shape and no extent is 0.
  ImageAxes axes(const Extents& extents) const;

 private:
  // Groups of a convolution share blocks, so that small ones leave less padding.
  struct Grouping {
    std::uint64_t n_shared = 1;  // groups in a block
    std::uint64_t n_blocks = 1;
  };

  bool is_grouped(const Extents& extents) const;
  Grouping grouping(const Extents& extents) const;

  Scheme scheme_;
  Shape stored_shape_;
  std::uint64_t groups_;
  std::uint64_t c0_ = 1;
  std::uint64_t n0_ = 1;
};

}  // namespace fastdump
