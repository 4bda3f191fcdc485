// Whether two descriptions say the same.
#pragma once

#include <algorithm>
#include <tuple>
#include <vector>

#include "core/formats/description.hpp"

namespace fastdump::fuzz {

inline bool is_same(const TensorDescription& a, const TensorDescription& b) {
  const auto all = [](const TensorDescription& t) {
    return std::tie(t.io, t.index, t.data_type, t.dtype, t.format, t.sub_format, t.shape,
                    t.origin_shape, t.original_format, t.nbytes, t.address, t.arg_index,
                    t.input_type, t.offset, t.n_elements, t.status, t.note.text());
  };
  return all(a) == all(b);
}

inline bool is_same(const OriginalOp& a, const OriginalOp& b) {
  return std::tie(a.tensor, a.name, a.output_index) == std::tie(b.tensor, b.name, b.output_index);
}

inline bool is_same(const TensorSlice& a, const TensorSlice& b) {
  return std::tie(a.tensor, a.lower, a.higher, a.full_shape) ==
         std::tie(b.tensor, b.lower, b.higher, b.full_shape);
}

inline bool is_same(const FileDescription& a, const FileDescription& b);

template <class Item>
bool are_same(const std::vector<Item>& a, const std::vector<Item>& b) {
  return std::ranges::equal(a, b, [](const Item& x, const Item& y) { return is_same(x, y); });
}

inline bool is_same(const FileDescription& a, const FileDescription& b) {
  const auto plain = [](const FileDescription& d) {
    return std::tie(d.kind, d.version, d.dump_time, d.op_name, d.dfx_message, d.attrs,
                    d.header_nbytes, d.fortran_order, d.header_note.text(), d.note.text());
  };
  return plain(a) == plain(b) && are_same(a.tensors, b.tensors) &&
         are_same(a.original_ops, b.original_ops) && are_same(a.slices, b.slices);
}

}  // namespace fastdump::fuzz
