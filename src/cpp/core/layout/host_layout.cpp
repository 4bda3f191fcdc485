#include "core/layout/host_layout.hpp"

#include <algorithm>
#include <optional>

#include "core/errors.hpp"
#include "core/formats/tensor_format.hpp"
#include "core/layout/axis_order.hpp"
#include "core/layout/gather.hpp"
#include "core/layout/image_format.hpp"
#include "core/layout/matrix_format.hpp"
#include "core/layout/scheme.hpp"
#include "core/size.hpp"

namespace fastdump {
namespace {

// Places in elements of up to 16 bytes stay far from the end of 64 bits.
constexpr std::uint64_t kMaxElements = std::uint64_t{1} << 59;

constexpr std::string_view kNoOrder = "ND";

// One axis of the host array; that of a grouped convolution's outputs has two parts.
struct HostAxis {
  char name = 0;  // 0: unknown
  std::uint64_t n = 1;
  std::vector<Axis> parts;
};
using HostAxes = std::vector<HostAxis>;

std::string format_text(std::int64_t format) {
  const std::string_view name = tensor_format_name(format);
  return name.empty() ? "format " + std::to_string(format) : std::string(name);
}

// Files hold dimensions as unsigned numbers, of which -1 is an unknown one.
Shape to_shape(std::span<const std::int64_t> dims, const char* which) {
  Shape shape;
  for (const std::int64_t dim : dims) {
    if (dim < 0) {
      throw LayoutError(std::string("the ") + which + " shape has a dimension of " +
                        std::to_string(dim));
    }
    shape.push_back(static_cast<std::uint64_t>(dim));
  }
  return shape;
}

Shape known_origin_shape(const StoredTensor& tensor) {
  if (tensor.origin_shape.empty()) {
    throw LayoutError(
        "no origin shape: without the shape of the host array, padding cannot be told from data");
  }
  return to_shape(tensor.origin_shape, "origin");
}

void check_stored_size(const Shape& stored, const Shape& host) {
  if (count_elements(host) != 0 && count_elements(stored) > kMaxElements) {
    throw LayoutError("the stored shape " + shape_text(stored) + " is larger than any file");
  }
}

// The parts of all axes, without those of length 1; as one those whose elements lie at even
// distances.
std::vector<Axis> merge(const HostAxes& axes) {
  std::vector<Axis> merged;
  for (const HostAxis& host_axis : axes) {
    for (const Axis& axis : host_axis.parts) {
      if (axis.is_simple() && axis.n == 1) continue;
      if (!merged.empty() && merged.back().is_simple() && axis.is_simple() &&
          merged.back().inner_stride == axis.n * axis.inner_stride) {
        merged.back() = simple_axis(merged.back().n * axis.n, axis.inner_stride);
      } else {
        merged.push_back(axis);
      }
    }
  }
  return merged;
}

// ---- formats that have the elements in the order of the host

HostAxes plain_axes(const StoredTensor& tensor, std::string_view origin_format) {
  const Shape shape = to_shape(tensor.shape, "stored");
  check_stored_size(shape, shape);
  std::string_view names = tensor_format_name(tensor.format);
  const bool is_named = is_axis_order(names) || names == "NC" || names == "CN";
  if (!is_named) {
    const bool is_origin = std::ranges::equal(tensor.shape, tensor.origin_shape);
    names = is_origin && is_axis_order(origin_format) ? origin_format : std::string_view{};
  }
  if (names.size() != shape.size()) names = {};
  HostAxes axes(shape.size());
  std::uint64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    axes[i] = {names.empty() ? '\0' : names[i], shape[i], {simple_axis(shape[i], stride)}};
    stride *= shape[i];
  }
  return axes;
}

// ---- matrices

HostAxes matrix_axes(Scheme scheme, const StoredTensor& tensor, std::string_view origin_format) {
  const Shape stored = to_shape(tensor.shape, "stored");
  const Shape origin = known_origin_shape(tensor);
  const MatrixFormat format(scheme, stored);
  const bool is_vector = origin.size() == 1;
  // A vector is one row. Some writers take it for a column, if its stored shape says so.
  const bool is_column = is_vector && format.shape_for(Shape{1, origin[0]}) != stored &&
                         format.shape_for(Shape{origin[0], 1}) == stored;
  Shape host = origin;
  if (is_vector) host.insert(is_column ? host.end() : host.begin(), 1);
  if (format.shape_for(host) != stored) {
    throw LayoutError("the stored shape " + shape_text(stored) + " is not that of origin shape " +
                      shape_text(origin) + ", which would be stored as " +
                      shape_text(format.shape_for(host)));
  }
  check_stored_size(stored, host);
  const bool is_named = is_axis_order(origin_format) && origin_format.size() == host.size();
  const bool is_empty = count_elements(host) == 0;
  std::vector<Axis> parts = is_empty ? std::vector<Axis>(host.size()) : format.axes(host);
  if (is_vector) parts.erase(parts.begin() + (is_column ? 1 : 0));
  HostAxes axes;
  for (std::size_t i = 0; i < origin.size(); ++i) {
    axes.push_back({is_named ? origin_format[i] : '\0', origin[i], {parts[i]}});
  }
  return axes;
}

// ---- feature maps and the weights of convolutions

Extents extents_of(const Shape& host, std::string_view order) {
  Extents extents;
  for (std::size_t i = 0; i < host.size(); ++i) {
    switch (order[i]) {
      case 'N':
        extents.n = host[i];
        break;
      case 'C':
        extents.c = host[i];
        break;
      case 'D':
        extents.d = host[i];
        break;
      case 'H':
        extents.h = host[i];
        break;
      default:
        extents.w = host[i];
    }
  }
  return extents;
}

std::vector<Axis> parts_of(const ImageAxes& axes, char name) {
  switch (name) {
    case 'N':
      return axes.group ? std::vector{*axes.group, axes.n} : std::vector{axes.n};
    case 'C':
      return {axes.c};
    case 'D':
      return {axes.d};
    case 'H':
      return {axes.h};
    default:
      return {axes.w};
  }
}

// Tries the orders that an origin shape may be in on a stored shape.
class OrderSearch {
 public:
  OrderSearch(Scheme scheme, const StoredTensor& tensor)
      : stored_(to_shape(tensor.shape, "stored")),
        host_(known_origin_shape(tensor)),
        format_(scheme, stored_,
                static_cast<std::uint64_t>(std::max<std::int64_t>(tensor.sub_format, 1))),
        in_3d_(is_3d(scheme)),
        is_grouped_(tensor.sub_format > 1),
        is_full_(host_.size() == (in_3d_ ? 5 : 4)) {
    check_stored_size(stored_, host_);
  }

  HostAxes run(std::string_view origin_format) {
    if (is_axis_order(origin_format)) {
      if (auto found = find(parts_of_order(origin_format, host_.size()))) return *found;
    }
    const std::vector<std::string> orders = axis_orders(host_.size(), in_3d_);
    if (auto found = find(orders)) return *found;
    std::string text = "the stored shape " + shape_text(stored_) + " is not that of origin shape " +
                       shape_text(host_) + " in any order";
    if (is_full_) {
      const char* separator = ": ";
      for (const std::string& order : orders) {
        const Shape expected = format_.shape_for(extents_of(host_, order));
        text += separator + order;
        text += expected.empty() ? " could not be stored so"
                                 : " would be stored as " + shape_text(expected);
        separator = ", ";
      }
    }
    throw LayoutError(text);
  }

 private:
  // The axes in the first order that fits. Where axes are left out, no order is likelier than
  // another: all that fit must then mean the same.
  std::optional<HostAxes> find(const std::vector<std::string>& orders) const {
    std::optional<HostAxes> found;
    std::string first;
    for (const std::string& order : orders) {
      const Extents extents = extents_of(host_, order);
      if (format_.shape_for(extents) != stored_) continue;
      // Where each group's channels begin is known by that axis.
      if (is_grouped_ && order.find('C') == std::string::npos) continue;
      HostAxes axes = place(order, extents);
      if (is_full_) return axes;
      if (!found) {
        found = std::move(axes);
        first = order;
      } else if (merge(*found) != merge(axes)) {
        throw LayoutError("origin shape " + shape_text(host_) + " may be " + first + " or " +
                          order + ": it must be given in full, with axes of length 1");
      }
    }
    return found;
  }

  HostAxes place(const std::string& order, const Extents& extents) const {
    HostAxes axes;
    const bool is_empty = count_elements(host_) == 0;
    const ImageAxes parts = is_empty ? ImageAxes{} : format_.axes(extents);
    for (std::size_t i = 0; i < host_.size(); ++i) {
      axes.push_back({order[i], host_[i], parts_of(parts, order[i])});
    }
    return axes;
  }

  const Shape stored_;
  const Shape host_;
  const ImageFormat format_;
  const bool in_3d_;
  const bool is_grouped_;
  const bool is_full_;
};

// ----

HostAxes find_axes(const StoredTensor& tensor, std::string_view origin_format) {
  const std::optional<Scheme> scheme = find_scheme(tensor.format);
  if (!scheme) throw LayoutError("no source tells how its elements are arranged");
  if (*scheme == Scheme::plain) return plain_axes(tensor, origin_format);
  if (is_matrix(*scheme)) return matrix_axes(*scheme, tensor, origin_format);
  return OrderSearch(*scheme, tensor).run(origin_format);
}

std::string order_of(const HostAxes& axes) {
  std::string order;
  for (const HostAxis& axis : axes) {
    if (axis.name == 0) return std::string(kNoOrder);
    order += axis.name;
  }
  return order.empty() ? std::string(kNoOrder) : order;
}

// Axes that are not there have length 1.
HostAxes reorder(const HostAxes& axes, std::string_view order) {
  if (!is_axis_order(order)) {
    throw LayoutError("there is no order \"" + std::string(order) +
                      "\"; it must be NCHW, NHWC, HWCN, CHWN, NCDHW, NDHWC, DHWCN, DHWNC or ND");
  }
  if (order_of(axes) == kNoOrder) {
    throw LayoutError("its axes have no names, so they cannot be put in the order " +
                      std::string(order));
  }
  HostAxes reordered;
  for (const char name : order) {
    const auto found = std::ranges::find(axes, name, &HostAxis::name);
    reordered.push_back(found != axes.end() ? *found : HostAxis{name, 1, {}});
  }
  for (const HostAxis& axis : axes) {
    if (axis.n != 1 && order.find(axis.name) == std::string_view::npos) {
      throw LayoutError("the order " + std::string(order) + " has no place for axis " +
                        std::string(1, axis.name) + ", of length " + std::to_string(axis.n));
    }
  }
  return reordered;
}

std::uint64_t last_place(const Axis& axis) {
  const std::uint64_t last = axis.n - 1;
  return add(multiply(last / axis.inner, axis.outer_stride),
             multiply(last % axis.inner, axis.inner_stride));
}

}  // namespace

bool is_private_format(std::int64_t format) { return find_scheme(format) != Scheme::plain; }

HostLayout::HostLayout(const StoredTensor& tensor, std::string_view order,
                       std::string_view origin_format) {
  HostAxes axes;
  try {
    axes = find_axes(tensor, origin_format);
    order_ = order_of(axes);
    if (!order.empty() && order != kNoOrder && order != order_) {
      axes = reorder(axes, order);
      order_ = order;
    }
  } catch (const LayoutError& error) {
    throw LayoutError(format_text(tensor.format) + ": " + error.what());
  }
  Shape host;
  for (const HostAxis& axis : axes) host.push_back(axis.n);
  shape_.assign(host.begin(), host.end());
  n_elements_ = count_elements(host);
  if (n_elements_ == 0) return;
  axes_ = merge(axes);
  n_stored_ = 1;
  for (const Axis& axis : axes_) n_stored_ = add(n_stored_, last_place(axis));
  if (std::ranges::any_of(axes_, &Axis::is_group)) {
    n_stored_ = count_elements(to_shape(tensor.shape, "stored"));
  }
}

bool HostLayout::is_identity() const {
  return axes_.empty() || (axes_.size() == 1 && axes_[0].is_simple() && axes_[0].inner_stride == 1);
}

std::optional<HostLayout> HostLayout::in_units_of(std::uint64_t n) const {
  HostLayout units = *this;
  if (n == 1 || n_elements_ == 0) return units;
  if (axes_.empty() || axes_.back().inner_stride != 1) return std::nullopt;
  units.n_elements_ /= n;
  units.n_stored_ = divide_up(n_stored_, n);
  for (Axis& axis : units.axes_) {
    if (axis.is_group || axis.phase_step != 0 || axis.outer_stride % n != 0) return std::nullopt;
    axis.outer_stride /= n;
    if (&axis != &units.axes_.back()) {
      if (axis.inner_stride % n != 0) return std::nullopt;
      axis.inner_stride /= n;
    } else {
      if (axis.n % n != 0 || axis.inner % n != 0) return std::nullopt;
      axis.n /= n;
      axis.inner /= n;
    }
  }
  return units;
}

void HostLayout::gather(const std::byte* stored, std::size_t element_nbytes, std::uint64_t first,
                        std::uint64_t n, std::byte* to, kernels::Destination destination) const {
  fastdump::gather(axes_, stored, element_nbytes, first, n, to, destination);
}

}  // namespace fastdump
