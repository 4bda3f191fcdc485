#include "core/layout/matrix_format.hpp"

#include <utility>

#include "core/errors.hpp"

namespace fastdump {

MatrixFormat::MatrixFormat(Scheme scheme, Shape stored_shape)
    : scheme_(scheme), stored_shape_(std::move(stored_shape)) {
  const std::size_t n_dims = stored_shape_.size();
  if (n_dims < 4) {
    throw LayoutError("a stored shape of 4 dimensions or more is needed, found " +
                      shape_text(stored_shape_));
  }
  h0_ = stored_shape_[n_dims - 2];
  w0_ = stored_shape_[n_dims - 1];
  if (h0_ == 0 || w0_ == 0) {
    throw LayoutError("the stored shape " + shape_text(stored_shape_) + " has blocks of size 0");
  }
}

Shape MatrixFormat::shape_for(std::span<const std::uint64_t> host_shape) const {
  Shape shape(host_shape.begin(), host_shape.end());
  const std::size_t n_dims = shape.size();
  std::uint64_t& h1 = shape[n_dims - 2];
  std::uint64_t& w1 = shape[n_dims - 1];
  h1 = divide_up(h1, h0_);
  w1 = divide_up(w1, w0_);
  if (scheme_ == Scheme::fractal_nz) std::swap(h1, w1);
  shape.push_back(h0_);
  shape.push_back(w0_);
  return shape;
}

std::vector<Axis> MatrixFormat::axes(std::span<const std::uint64_t> host_shape) const {
  // No product below is larger than that of the stored shape, which is checked.
  const std::size_t n_dims = host_shape.size();
  const std::uint64_t h = host_shape[n_dims - 2];
  const std::uint64_t w = host_shape[n_dims - 1];
  const std::uint64_t h1 = divide_up(h, h0_);
  const std::uint64_t w1 = divide_up(w, w0_);
  const std::uint64_t block = h0_ * w0_;
  std::vector<Axis> axes(n_dims);
  if (scheme_ == Scheme::fractal_nz) {
    axes[n_dims - 1] = split_axis(w, w0_, 1, h1 * block);
    axes[n_dims - 2] = simple_axis(h, w0_);
  } else {
    axes[n_dims - 1] = split_axis(w, w0_, 1, block);
    axes[n_dims - 2] = split_axis(h, h0_, w0_, w1 * block);
  }
  std::uint64_t stride = h1 * w1 * block;
  for (std::size_t i = n_dims - 2; i-- > 0;) {
    axes[i] = simple_axis(host_shape[i], stride);
    stride *= host_shape[i];
  }
  return axes;
}

}  // namespace fastdump
