#include "core/layout/gather.hpp"

#include <algorithm>

namespace fastdump {
namespace {

using kernels::CopyDim;

// A range of a host array is some boxes; a box, cut where blocks begin and end, is some boxes whose
// elements lie at even distances on both sides.
class Gatherer {
 public:
  Gatherer(std::span<const Axis> axes, const std::byte* from, std::size_t element_nbytes,
           std::uint64_t first, std::byte* to, kernels::Destination destination)
      : axes_(axes),
        from_(from),
        to_(to),
        first_(first),
        element_nbytes_(element_nbytes),
        destination_(destination) {
    std::uint64_t stride = 1;
    for (std::size_t i = axes.size(); i-- > 0;) {
      strides_[i] = stride;
      stride *= axes[i].n;
      if (axes[i].is_group) group_ = i;
    }
  }

  // Elements [begin, end) of the part of the array in which the axes before `axis` are fixed.
  void copy_range(std::size_t axis, std::uint64_t begin, std::uint64_t end) {
    if (axis == axes_.size()) {
      copy_box();
      return;
    }
    const std::uint64_t stride = strides_[axis];
    std::uint64_t index = begin / stride;
    if (begin % stride != 0 || end - begin < stride) {
      const std::uint64_t next = std::min(end, (index + 1) * stride);
      ranges_[axis] = {index, index + 1};
      copy_range(axis + 1, begin % stride, next - index * stride);
      begin = next;
      ++index;
    }
    if (end - begin >= stride && begin < end) {
      ranges_[axis] = {index, end / stride};
      for (std::size_t i = axis + 1; i < axes_.size(); ++i) ranges_[i] = {0, axes_[i].n};
      copy_box();
      index = end / stride;
      begin = index * stride;
    }
    if (begin < end) {
      ranges_[axis] = {index, index + 1};
      copy_range(axis + 1, 0, end - begin);
    }
  }

 private:
  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
  };

  void copy_box() {
    if (group_ == kNoGroup) {
      cut(0, 0, 0, 0);
      return;
    }
    const Range groups = ranges_[group_];
    for (std::uint64_t group = groups.begin; group < groups.end; ++group) {
      ranges_[group_] = {group, group + 1};
      index_in_block_ = group % axes_[group_].inner;
      cut(0, 0, 0, 0);
    }
    ranges_[group_] = groups;
  }

  void cut(std::size_t i, std::uint64_t offset, std::uint64_t index, int n_dims) {
    if (i == axes_.size()) {
      kernels::copy_strided(from_ + offset * element_nbytes_,
                            to_ + (index - first_) * element_nbytes_, dims_, n_dims,
                            element_nbytes_, destination_);
      return;
    }
    const Axis& axis = axes_[i];
    const std::uint64_t stride = strides_[i];
    const std::uint64_t phase = axis.phase_step * index_in_block_;
    index += ranges_[i].begin * stride;
    std::uint64_t at = ranges_[i].begin + phase;
    const std::uint64_t end = ranges_[i].end + phase;
    while (at < end) {
      const std::uint64_t in_block = at % axis.inner;
      const std::uint64_t start =
          offset + at / axis.inner * axis.outer_stride + in_block * axis.inner_stride;
      std::uint64_t n = std::min(axis.inner - in_block, end - at);
      dims_[n_dims] = {n, axis.inner_stride, stride};
      int n_more = n_dims + 1;
      if (n == axis.inner) {
        const std::uint64_t n_blocks = (end - at) / axis.inner;
        dims_[n_more++] = {n_blocks, axis.outer_stride, axis.inner * stride};
        n *= n_blocks;
      }
      cut(i + 1, start, index, n_more);
      at += n;
      index += n * stride;
    }
  }

  static constexpr std::size_t kNoGroup = kMaxAxes;

  const std::span<const Axis> axes_;
  const std::byte* from_;
  std::byte* to_;
  const std::uint64_t first_;
  const std::size_t element_nbytes_;
  const kernels::Destination destination_;
  std::uint64_t strides_[kMaxAxes] = {};  // of the host array
  Range ranges_[kMaxAxes] = {};           // the box
  CopyDim dims_[2 * kMaxAxes] = {};       // what it is cut into
  std::size_t group_ = kNoGroup;
  std::uint64_t index_in_block_ = 0;  // of the group
};

}  // namespace

void gather(std::span<const Axis> axes, const std::byte* from, std::size_t element_nbytes,
            std::uint64_t first, std::uint64_t n, std::byte* to, kernels::Destination destination) {
  if (n == 0) return;
  Gatherer(axes, from, element_nbytes, first, to, destination).copy_range(0, first, first + n);
}

}  // namespace fastdump
