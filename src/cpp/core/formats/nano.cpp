#include "core/formats/nano.hpp"

#include <string>
#include <string_view>
#include <utility>

#include "core/errors.hpp"
#include "core/formats/byte_cursor.hpp"
#include "core/formats/dump_data.hpp"
#include "core/formats/payload.hpp"

namespace fastdump {
namespace {

constexpr std::size_t kTlvLengthNbytes = 8;
constexpr std::uint64_t kNanoMagic = 0x5A5A5A5A;

enum class List : std::uint32_t { inputs = 4, outputs = 5 };
enum class Detail : std::uint32_t { shape = 0, origin_shape = 1, original_op_name = 2 };

void read_shape(ByteCursor data, std::vector<std::int64_t>& shape) {
  while (!data.at_end()) {
    if (shape.size() == kMaxDims) {
      throw FormatError("more than " + std::to_string(kMaxDims) + " dimensions at byte " +
                            std::to_string(data.offset()) + " (the limit of this reader)",
                        data.offset());
    }
    shape.push_back(static_cast<std::int64_t>(data.read_u64("a dimension")));
  }
}

void read_details(ByteCursor details, TensorDescription& tensor, OriginalOp& op) {
  while (!details.at_end()) {
    const auto tag = static_cast<Detail>(details.read_u32("a tag"));
    const std::uint32_t nbytes = details.read_u32("a length");
    const std::uint64_t offset = details.offset();
    const auto value = details.take(nbytes, "a tagged value");
    switch (tag) {
      case Detail::shape:
        read_shape({value, offset}, tensor.shape);
        break;
      case Detail::origin_shape:
        read_shape({value, offset}, tensor.origin_shape);
        break;
      case Detail::original_op_name:
        // SAFETY: char may alias any object.
        op.name.assign(reinterpret_cast<const char*>(value.data()), value.size());
        break;
      default:  // of a later version
        break;
    }
  }
}

void read_tensor(ByteCursor& records, Io io, FileDescription& description) {
  TensorDescription tensor;
  OriginalOp op;
  tensor.io = io;
  tensor.index = static_cast<std::uint32_t>(description.tensors.size());
  tensor.data_type = records.read_i32("a data type");
  tensor.dtype = find_ge_data_type(tensor.data_type);
  const std::int32_t format = records.read_i32("a format");
  tensor.format = format & 0xFF;
  tensor.sub_format = format >> 8 & 0xFFFF;
  records.read_i32("an address type");
  if (io == Io::output) {
    op.output_index = static_cast<std::uint32_t>(records.read_i32("an output index"));
    records.read_i32("an original data type");
    tensor.original_format = records.read_i32("an original format") & 0xFF;
  }
  tensor.address = records.read_u64("an address");
  records.read_u64("an offset");  // as unreliable as the standard file's
  tensor.nbytes = records.read_u64("a size");
  const std::uint32_t details_nbytes = records.read_u32("a length");
  const std::uint64_t offset = records.offset();
  read_details({records.take(details_nbytes, "a tensor's details"), offset}, tensor, op);
  if (io == Io::output && !op.name.empty()) {
    op.tensor = description.tensors.size();
    description.original_ops.push_back(std::move(op));
  }
  description.tensors.push_back(std::move(tensor));
}

// Appends to `description`, whose tensors are all `io`; there are `n_others` elsewhere.
void read_list(ByteCursor list, Io io, std::size_t n_others, FileDescription& description) {
  const std::uint32_t n = list.read_u32("a number of tensors");
  for (std::uint32_t i = 0; i < n; ++i) {
    if (n_others + description.tensors.size() == kMaxTensorsPerFile) {
      throw FormatError("more than " + std::to_string(kMaxTensorsPerFile) + " tensors at byte " +
                            std::to_string(list.offset()) + " (the limit of this reader)",
                        list.offset());
    }
    read_tensor(list, io, description);
  }
}

}  // namespace

bool has_nano_magic(std::span<const std::byte> head) {
  return head.size() >= kTlvLengthNbytes + 4 &&
         ByteCursor::little_endian(head.subspan(kTlvLengthNbytes, 4)) == kNanoMagic;
}

std::uint64_t nano_header_end(std::span<const std::byte> head, std::uint64_t file_size) {
  const std::uint64_t length = ByteCursor(head, 0).read_u64("the head length");
  if (length > file_size - kTlvLengthNbytes || length > kMaxHeaderBytes) {
    throw FormatError("nano (TLV) dump: head length " + std::to_string(length) + " at byte 0 is " +
                          (length > kMaxHeaderBytes ? "more than the limit of " : "not within ") +
                          std::to_string(length > kMaxHeaderBytes ? kMaxHeaderBytes : file_size) +
                          " bytes",
                      0);
  }
  return kTlvLengthNbytes + length;
}

void describe_nano(std::span<const std::byte> head, std::uint64_t file_size,
                   FileDescription& description) {
  const std::uint64_t end = nano_header_end(head, file_size);
  description = FileDescription{};
  description.kind = FileKind::nano;
  description.header_nbytes = end - kTlvLengthNbytes;
  ByteCursor header(head.subspan(kTlvLengthNbytes, end - kTlvLengthNbytes), kTlvLengthNbytes);
  header.read_u32("the magic number");
  description.version = "nano " + std::to_string(header.read_u32("a version"));
  // The payloads of inputs come first, whatever the order of the lists.
  FileDescription outputs;
  while (!header.at_end()) {
    const auto tag = static_cast<List>(header.read_u32("a tag"));
    const std::uint32_t nbytes = header.read_u32("a length");
    const std::uint64_t offset = header.offset();
    const ByteCursor list(header.take(nbytes, "a list of tensors"), offset);
    if (tag == List::inputs) read_list(list, Io::input, outputs.tensors.size(), description);
    if (tag == List::outputs) read_list(list, Io::output, description.tensors.size(), outputs);
  }
  for (OriginalOp& op : outputs.original_ops) {
    op.tensor += description.tensors.size();
    description.original_ops.push_back(std::move(op));
  }
  for (TensorDescription& tensor : outputs.tensors) {
    description.tensors.push_back(std::move(tensor));
  }
  cut_texts(description);
  place_payloads(description, end, file_size);
}

}  // namespace fastdump
