// How a tensor in a format of the device's own becomes the array that the framework had: the shape
// and order of axes of the host array, and where its elements lie in the stored tensor. Whatever
// shapes claim, no element lies outside the tensor that they describe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/layout/axis.hpp"
#include "kernels/strided_copy.hpp"

namespace fastdump {

struct StoredTensor {
  std::int64_t format = 0;
  std::span<const std::int64_t> shape;
  // Of the host array; the header does not say in which order.
  std::span<const std::int64_t> origin_shape;
  std::int64_t sub_format = 0;  // the number of groups of a convolution
};

// Whether elements in this format may lie in another order than the host's, or among padding.
bool is_private_format(std::int64_t format);

class HostLayout {
 public:
  // `order` is the wanted order of axes; empty: that of origin_shape. `origin_format` is the order
  // of origin_shape by some hint: it decides where the stored shape leaves a choice; ignored if
  // it is no order of axes. Throws LayoutError if there is no way, or more than one.
  explicit HostLayout(const StoredTensor& tensor, std::string_view order = {},
                      std::string_view origin_format = {});

  const std::vector<std::int64_t>& shape() const { return shape_; }
  // "NCHW", "CHW", ...; "ND" where axes have no names.
  const std::string& order() const { return order_; }
  std::uint64_t n_elements() const { return n_elements_; }
  // The first so many elements of the stored tensor hold all of the host array.
  std::uint64_t n_stored() const { return n_stored_; }
  // The host array is the first n_elements() elements of the stored tensor.
  bool is_identity() const;

  // The same with units of `n` elements in a row as elements: packed ones move by the byte. Empty
  // if some of them are not together on both sides.
  std::optional<HostLayout> in_units_of(std::uint64_t n) const;

  // Copies elements [first, first + n) of the host array, in row-major order.
  void gather(const std::byte* stored, std::size_t element_nbytes, std::uint64_t first,
              std::uint64_t n, std::byte* to,
              kernels::Destination destination = kernels::Destination::cached) const;

 private:
  std::vector<std::int64_t> shape_;
  std::string order_;
  std::vector<Axis> axes_;  // of length 1 only if it has a phase; no two that could be one
  std::uint64_t n_elements_ = 0;
  std::uint64_t n_stored_ = 0;
};

}  // namespace fastdump
