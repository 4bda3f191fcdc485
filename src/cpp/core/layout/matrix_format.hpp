// The private formats of matrices: the last two of any axes, H and W, are cut into blocks of H0
// rows and W0 columns, which are taken from the stored shape.
#pragma once

#include <span>
#include <vector>

#include "core/layout/axis.hpp"
#include "core/layout/scheme.hpp"
#include "core/size.hpp"

namespace fastdump {

class MatrixFormat {
 public:
  // Throws LayoutError for a shape of fewer than four dimensions, or without blocks.
  MatrixFormat(Scheme scheme, Shape stored_shape);

  // The shape that a host array of two or more dimensions is stored in.
  Shape shape_for(std::span<const std::uint64_t> host_shape) const;
  // Where the elements lie, if that is the stored shape and no dimension is 0.
  std::vector<Axis> axes(std::span<const std::uint64_t> host_shape) const;

 private:
  Scheme scheme_;
  Shape stored_shape_;
  std::uint64_t h0_ = 1;
  std::uint64_t w0_ = 1;
};

}  // namespace fastdump
