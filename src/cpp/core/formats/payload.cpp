#include "core/formats/payload.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/size.hpp"

namespace fastdump {
namespace {

constexpr std::uint64_t kMaxI64 = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kUnknownDim = -1;

std::string bytes_text(std::uint64_t nbytes, std::string_view kind = "byte") {
  return std::to_string(nbytes) + " " + std::string(kind) + (nbytes == 1 ? "" : "s");
}

// For a shape that does not tell how many.
void count_by_size(TensorDescription& tensor, std::string_view why) {
  const int bits = tensor.dtype->bits;
  tensor.n_elements = whole_elements(tensor.nbytes, bits);
  tensor.note.add(why);
  const auto element_nbytes = static_cast<std::uint64_t>((bits + 7) / 8);
  if (tensor.nbytes % element_nbytes == 0) return;
  tensor.status = Status::size_mismatch;
  tensor.note.add("size " + std::to_string(tensor.nbytes) + " is not a multiple of " +
                  bytes_text(element_nbytes));
}

void count_by_shape(TensorDescription& tensor, std::uint64_t n_elements, std::uint64_t expected) {
  tensor.n_elements = std::min(n_elements, whole_elements(tensor.nbytes, tensor.dtype->bits));
  if (tensor.nbytes == expected) return;
  tensor.status = Status::size_mismatch;
  const bool more = tensor.nbytes > expected;
  const std::span<const std::int64_t> dims = tensor.shape;
  const std::string shape = dims.empty() ? "a scalar" : "shape " + shape_text(dims);
  tensor.note.add("size " + std::to_string(tensor.nbytes) +
                  (more ? " is more than the " : " is less than the ") + bytes_text(expected) +
                  " of " + shape + (more ? ": the rest is ignored" : ""));
}

// The header does not tell a scalar from a tensor whose shape it left out; the size does.
void count_without_shape(TensorDescription& tensor) {
  const std::uint64_t scalar_nbytes = packed_nbytes(1, tensor.dtype->bits);
  if (tensor.nbytes > 0 && tensor.nbytes <= scalar_nbytes) {
    count_by_shape(tensor, 1, scalar_nbytes);
    return;
  }
  if (tensor.nbytes > 0) {
    count_by_size(tensor, "no shape in the header: taken as one dimension");
  }
  tensor.shape.push_back(static_cast<std::int64_t>(std::min(tensor.n_elements, kMaxI64)));
}

// What type, shape and size agree on, before anyone looks at the file's end.
void count_tensor(TensorDescription& tensor) {
  if (!is_typed(tensor)) return;
  if (!is_reducible(tensor)) {
    tensor.status = Status::unsupported;
    tensor.note.add(tensor.dtype != nullptr
                        ? std::string(tensor.dtype->caveat)
                        : "unknown data type " + std::to_string(tensor.data_type));
    return;
  }
  if (tensor.shape.empty()) return count_without_shape(tensor);

  const std::span<const std::int64_t> shape = tensor.shape;
  // Dimensions are stored unsigned: a negative one that is not "unknown" was above INT64_MAX.
  const auto impossible =
      std::ranges::find_if(shape, [](std::int64_t dim) { return dim < kUnknownDim; });
  if (impossible != shape.end()) {
    tensor.status = Status::size_mismatch;
    const auto stored = static_cast<std::uint64_t>(*impossible);
    return count_by_size(tensor,
                         "impossible dimension " + std::to_string(stored) + ": counted by size");
  }
  if (std::ranges::find(shape, kUnknownDim) != shape.end()) {
    return count_by_size(tensor, "unknown dimension: counted by size");
  }
  const std::uint64_t n_elements = count_elements(shape);
  const std::uint64_t expected = packed_nbytes(n_elements, tensor.dtype->bits);
  if (n_elements == kTooLarge || expected > kMaxI64) {
    tensor.status = Status::size_mismatch;
    return count_by_size(
        tensor, "shape " + shape_text(shape) + " is larger than any file: counted by size");
  }
  count_by_shape(tensor, n_elements, expected);
}

// The writer skips the bytes of a tensor whose device address is null.
bool has_null_address(const TensorDescription& tensor) {
  return is_typed(tensor) && tensor.address == 0;
}

// How many of the `missing` bytes are those of tensors at null addresses: all of these or none, for
// the writer treats them alike. A file may be cut short as well. Old writers stored no address at
// all, and arrays have none: that explains nothing but a dump without payloads.
std::uint64_t skipped_nbytes(const FileDescription& description, std::uint64_t missing,
                             std::uint64_t there) {
  std::uint64_t skipped = 0;  // part of the sum of all sizes, cannot overflow
  bool any_address = false;
  for (const TensorDescription& tensor : description.tensors) {
    if (has_null_address(tensor)) skipped += tensor.nbytes;
    any_address |= tensor.address != 0;
  }
  const bool is_explained = any_address || (there == 0 && description.kind != FileKind::npy);
  return skipped <= missing && is_explained ? skipped : 0;
}

void mark_absent(TensorDescription& tensor) {
  tensor.status = Status::absent;
  tensor.n_elements = 0;
  tensor.note.add("its bytes were never written (device address 0)");
}

void cut_at_end(TensorDescription& tensor, std::uint64_t file_size) {
  const std::uint64_t there =
      std::min(tensor.nbytes, file_size - std::min(tensor.offset, file_size));
  if (there == tensor.nbytes) return;
  tensor.status = Status::truncated;
  if (is_reducible(tensor)) {
    tensor.n_elements = std::min(tensor.n_elements, whole_elements(there, tensor.dtype->bits));
  }
  tensor.note.add(there == 0 ? "the file ends before its " + bytes_text(tensor.nbytes)
                             : "the file ends after " + std::to_string(there) + " of " +
                                   bytes_text(tensor.nbytes));
}

void mark_doubtful(TensorDescription& tensor) {
  if (tensor.status == Status::ok) tensor.status = Status::truncated;
  tensor.note.add("where its bytes lie is not certain");
}

std::string end_note(const FileDescription& description, std::uint64_t sum, std::uint64_t there) {
  if (sum == kTooLarge) return "the sizes in the header add up to more than 2^64 bytes";
  if (sum > there) {
    return "the file is " + bytes_text(sum - there) + " shorter than its header says";
  }
  if (sum == there) return {};
  return bytes_text(there - sum, "trailing byte") +
         (description.tensors.empty() ? " after a header that describes no tensor"
                                      : " after the last tensor (an appended dump?)");
}

}  // namespace

std::uint64_t sum_of_sizes(const std::vector<TensorDescription>& tensors) {
  std::uint64_t sum = 0;
  for (const TensorDescription& tensor : tensors) sum = add(sum, tensor.nbytes);
  return sum;
}

std::uint64_t place_payloads(FileDescription& description, std::uint64_t begin,
                             std::uint64_t file_size) {
  const std::uint64_t there = file_size - begin;
  const std::uint64_t sum = sum_of_sizes(description.tensors);
  const bool is_short = sum > there && sum != kTooLarge;
  const std::uint64_t skipped = is_short ? skipped_nbytes(description, sum - there, there) : 0;

  // If more bytes are missing than null addresses explain, the writer may have skipped them as it
  // should, or not and the file was cut: what follows lies here or there.
  const bool in_doubt = skipped > 0 && skipped < sum - there;
  bool after_null_address = false;
  std::uint64_t offset = begin;
  for (TensorDescription& tensor : description.tensors) {
    tensor.offset = offset;
    count_tensor(tensor);
    if (skipped > 0 && has_null_address(tensor)) {
      if (tensor.nbytes > 0) mark_absent(tensor);
      after_null_address |= tensor.nbytes > 0;
      continue;
    }
    cut_at_end(tensor, file_size);
    if (in_doubt && after_null_address && tensor.nbytes > 0) mark_doubtful(tensor);
    offset = add(offset, tensor.nbytes);
  }
  description.note = Note(end_note(description, sum == kTooLarge ? sum : sum - skipped, there));
  return std::min(offset, file_size);
}

std::uint64_t skippable_nbytes(const FileDescription& description) {
  const bool fits = sum_of_sizes(description.tensors) != kTooLarge;
  return fits ? skipped_nbytes(description, kTooLarge, kTooLarge) : 0;
}

void count_payloads(FileDescription& description) {
  for (TensorDescription& tensor : description.tensors) count_tensor(tensor);
}

}  // namespace fastdump
