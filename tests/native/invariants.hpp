// What holds for the description of any file, whatever its bytes are: nothing that it lets others
// read lies outside of the file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "check.hpp"
#include "core/errors.hpp"
#include "core/formats/description.hpp"
#include "core/formats/dump_data.hpp"
#include "core/size.hpp"

namespace fastdump::tests {

inline void check_tensor_invariants(const TensorDescription& t, std::uint64_t file_size) {
  CHECK(t.status != Status::malformed && t.status != Status::unreadable);
  CHECK(t.status == Status::ok || !t.note.empty());
  if (t.n_elements > 0) {
    CHECK(is_reducible(t));
    const std::uint64_t nbytes = packed_nbytes(t.n_elements, t.dtype->bits);
    CHECK(nbytes <= t.nbytes && t.offset <= file_size && nbytes <= file_size - t.offset);
  }
  const bool is_inside = t.offset <= file_size && t.nbytes <= file_size - t.offset;
  if (t.status == Status::ok || t.status == Status::size_mismatch)
    CHECK(is_inside || t.nbytes == 0);
  CHECK(t.shape.size() <= kMaxDims && t.origin_shape.size() <= kMaxDims);
}

// Inputs, outputs, buffers, spaces; each kind counted from 0. Payloads in this order, but in an
// inline dump, where they lie wherever their messages do.
inline void check_order(const FileDescription& d) {
  if (d.kind == FileKind::npy) {  // one tensor, placed by the file's name
    CHECK_EQ(d.tensors.size(), 1U);
    return;
  }
  const TensorDescription* before = nullptr;
  for (const TensorDescription& t : d.tensors) {
    CHECK(before == nullptr || before->io <= t.io);
    CHECK_EQ(t.index, before == nullptr || before->io != t.io ? 0U : before->index + 1);
    if (d.kind != FileKind::version_1) CHECK(before == nullptr || t.offset >= before->offset);
    before = &t;
  }
}

inline void check_details(const FileDescription& d) {
  std::size_t next = 0;
  for (const OriginalOp& op : d.original_ops) {
    CHECK(op.tensor >= next && op.tensor < d.tensors.size());
    CHECK(d.tensors.at(op.tensor).io == Io::output);
    next = op.tensor + 1;
  }
  next = 0;
  for (const TensorSlice& slice : d.slices) {
    CHECK(slice.tensor >= next && slice.tensor < d.tensors.size());
    const TensorDescription& t = d.tensors.at(slice.tensor);
    next = slice.tensor + 1;
    CHECK(is_typed(t));
    CHECK_EQ(slice.lower.size(), t.shape.size());
    CHECK_EQ(slice.higher.size(), t.shape.size());
    CHECK_EQ(slice.full_shape.size(), t.shape.size());
    for (std::size_t i = 0; i < t.shape.size(); ++i) {
      CHECK(0 <= slice.lower.at(i) && slice.lower.at(i) <= slice.higher.at(i));
      CHECK(slice.higher.at(i) <= slice.full_shape.at(i));
      CHECK_EQ(t.shape.at(i), slice.higher.at(i) - slice.lower.at(i));
    }
  }
}

// Of one dump that begins at byte `begin`.
inline void check_invariants(const FileDescription& d, std::uint64_t file_size,
                             std::uint64_t begin = 0) {
  if (d.kind == FileKind::statistics) {  // of tensors that are elsewhere, if anywhere
    for (const TensorDescription& t : d.tensors) CHECK(t.status == Status::absent);
    return;
  }
  check_order(d);
  check_details(d);
  CHECK(begin <= file_size && d.header_nbytes <= file_size - begin);
  CHECK(!d.fortran_order || d.kind == FileKind::npy);
  std::uint64_t n_payload_bytes = 0;
  for (const TensorDescription& t : d.tensors) {
    check_tensor_invariants(t, file_size);
    if (d.kind == FileKind::standard || d.kind == FileKind::nano) {
      CHECK(t.offset >= begin + 8 + d.header_nbytes);
    }
    n_payload_bytes += t.nbytes;
  }
  if (d.kind == FileKind::version_1) CHECK_EQ(d.header_nbytes + n_payload_bytes, file_size);
}

// Of a file and the dumps appended to it: each begins where what came before it ends.
inline void check_invariants(std::span<const FileDescription> dumps, std::uint64_t file_size) {
  CHECK(!dumps.empty());
  std::uint64_t begin = 0;
  std::size_t n_tensors = 0;
  for (const FileDescription& d : dumps) {
    check_invariants(d, file_size, begin);
    n_tensors += d.tensors.size();
    if (d.kind == FileKind::standard) begin += 8 + d.header_nbytes;
    for (const TensorDescription& t : d.tensors) {
      if (t.status == Status::ok) begin = std::max(begin, t.offset + t.nbytes);
    }
  }
  CHECK(n_tensors <= kMaxTensorsPerFile);
}

// Either a description that keeps every promise, or a FormatError that names a byte of the file.
// `describe` returns the former; false: it threw.
template <typename Describe>
bool check_described(Describe describe, std::uint64_t file_size) {
  try {
    check_invariants(describe(), file_size);
    return true;
  } catch (const FormatError& error) {
    CHECK(error.offset() <= file_size);
    CHECK(!std::string_view(error.what()).empty());
    return false;
  }
}

}  // namespace fastdump::tests
