#include "core/layout/image_format.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/errors.hpp"

namespace fastdump {
namespace {

constexpr std::uint64_t kC04 = 4;  // channels that FRACTAL_Z_C04 has room for

std::size_t n_dims(Scheme scheme) {
  switch (scheme) {
    case Scheme::nc1hwc0:
      return 5;
    case Scheme::ndc1hwc0:
    case Scheme::c1hwncoc0:
      return 6;
    default:
      return 4;
  }
}

bool has_groups(Scheme scheme) {
  return scheme == Scheme::fractal_z || scheme == Scheme::fractal_z_3d;
}

}  // namespace

ImageFormat::ImageFormat(Scheme scheme, Shape stored_shape, std::uint64_t groups)
    : scheme_(scheme),
      stored_shape_(std::move(stored_shape)),
      groups_(has_groups(scheme) ? groups : 1) {
  if (stored_shape_.size() != n_dims(scheme)) {
    throw LayoutError("a stored shape of " + std::to_string(n_dims(scheme)) +
                      " dimensions is needed, found " + shape_text(stored_shape_));
  }
  c0_ = stored_shape_.back();
  n0_ = stored_shape_[stored_shape_.size() - 2];
  const bool has_n0 = n_dims(scheme) == 4;
  if (c0_ == 0 || (has_n0 && n0_ == 0)) {
    throw LayoutError("the stored shape " + shape_text(stored_shape_) + " has blocks of size 0");
  }
}

bool ImageFormat::is_grouped(const Extents& extents) const {
  return groups_ > 1 && extents.n >= groups_;
}

ImageFormat::Grouping ImageFormat::grouping(const Extents& extents) const {
  if (!is_grouped(extents)) return {};
  // As many groups as fill blocks of C0 channels and of N0 outputs exactly, or all.
  const std::uint64_t for_channels = c0_ / std::gcd(extents.c, c0_);
  const std::uint64_t for_outputs = n0_ / std::gcd(extents.n / groups_, n0_);
  const std::uint64_t n_shared =
      std::min(least_common_multiple(for_channels, for_outputs), groups_);
  return {n_shared, divide_up(groups_, n_shared)};
}

Shape ImageFormat::shape_for(const Extents& extents) const {
  const auto& [n, c, d, h, w] = extents;
  switch (scheme_) {
    case Scheme::nc1hwc0:
      return {n, divide_up(c, c0_), h, w, c0_};
    case Scheme::ndc1hwc0:
      return {n, d, divide_up(c, c0_), h, w, c0_};
    case Scheme::c1hwncoc0:
      return {divide_up(c, c0_), h, w, n, c0_, c0_};
    case Scheme::fractal_z_c04:
      if (c > kC04 || c0_ % kC04 != 0) return {};
      return {divide_up(multiply(kC04, multiply(h, w)), c0_), divide_up(n, n0_), n0_, c0_};
    default:
      break;
  }
  if (is_grouped(extents) && n % groups_ != 0) return {};
  const Grouping groups = grouping(extents);
  const std::uint64_t n_groups = is_grouped(extents) ? groups_ : 1;
  const std::uint64_t c1 = divide_up(multiply(groups.n_shared, c), c0_);
  const std::uint64_t x = multiply(multiply(groups.n_blocks, multiply(d, c1)), multiply(h, w));
  return {x, divide_up(multiply(groups.n_shared, n / n_groups), n0_), n0_, c0_};
}

ImageAxes ImageFormat::axes(const Extents& extents) const {
  // No product below is larger than that of the stored shape, which is checked.
  const auto& [n, c, d, h, w] = extents;
  const std::uint64_t c0 = c0_;
  ImageAxes axes;
  switch (scheme_) {
    case Scheme::nc1hwc0:
    case Scheme::ndc1hwc0: {
      const std::uint64_t c1 = divide_up(c, c0);
      axes.w = simple_axis(w, c0);
      axes.h = simple_axis(h, w * c0);
      axes.c = split_axis(c, c0, 1, h * w * c0);
      axes.d = simple_axis(d, c1 * h * w * c0);
      axes.n = simple_axis(n, d * c1 * h * w * c0);
      return axes;
    }
    case Scheme::c1hwncoc0: {
      // A weight stands on the diagonal of Co x C0.
      const std::uint64_t weights = n * c0 * c0;
      axes.n = simple_axis(n, c0 * c0);
      axes.w = simple_axis(w, weights);
      axes.h = simple_axis(h, w * weights);
      axes.c = split_axis(c, c0, c0 + 1, h * w * weights);
      return axes;
    }
    case Scheme::fractal_z_c04: {
      const std::uint64_t fractals = stored_shape_[1] * n0_ * c0;
      axes.n = simple_axis(n, c0);
      axes.c = simple_axis(c, 1);
      (h > 1 ? axes.h : axes.w) = split_axis(h * w, c0 / kC04, kC04, fractals);
      return axes;
    }
    default:
      break;
  }
  const Grouping groups = grouping(extents);
  const std::uint64_t fractals = stored_shape_[1] * n0_ * c0;
  const std::uint64_t c1 = divide_up(groups.n_shared * c, c0);
  axes.n = simple_axis(n, c0);
  axes.w = simple_axis(w, fractals);
  axes.h = simple_axis(h, w * fractals);
  axes.c = split_axis(c, c0, 1, h * w * fractals);
  axes.d = simple_axis(d, c1 * h * w * fractals);
  if (is_grouped(extents)) {
    axes.n.n = axes.n.inner = n / groups_;
    axes.c = {c, c0, 1, h * w * fractals, c};
    axes.group = Axis{groups_, groups.n_shared, axes.n.n * c0, d * c1 * h * w * fractals, 0, true};
  }
  return axes;
}

}  // namespace fastdump
