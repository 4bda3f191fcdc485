#include "core/formats/dump_data.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "core/formats/wire.hpp"

namespace fastdump {
namespace {

using wire::bytes_tag;
using wire::Field;
using wire::Reader;
using wire::varint_tag;

// DumpData. Outputs have the smaller number, yet inputs are the first payloads.
constexpr std::uint32_t kVersion = bytes_tag(1);
constexpr std::uint32_t kDumpTime = varint_tag(2);
constexpr std::uint32_t kOutput = bytes_tag(3);
constexpr std::uint32_t kInput = bytes_tag(4);
constexpr std::uint32_t kBuffer = bytes_tag(5);
constexpr std::uint32_t kOpName = bytes_tag(6);
constexpr std::uint32_t kAttr = bytes_tag(7);
constexpr std::uint32_t kSpace = bytes_tag(8);
constexpr std::uint32_t kDfxMessage = bytes_tag(9);

std::optional<Io> io_of(std::uint32_t tag) {
  switch (tag) {
    case kInput:
      return Io::input;
    case kOutput:
      return Io::output;
    case kBuffer:
      return Io::buffer;
    case kSpace:
      return Io::space;
    default:
      return std::nullopt;
  }
}

// int32 and enums are stored as 64-bit varints; protobuf drops what is above 32 bits.
std::int64_t as_int32(std::uint64_t value) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
}

// Not necessarily UTF-8: the bytes are kept as they are.
std::string_view text_of(const Field& field) {
  // SAFETY: char may alias any object; the bytes outlive the view, which is copied at once.
  return {reinterpret_cast<const char*>(field.bytes.data()), field.bytes.size()};
}

[[noreturn, gnu::cold]] void fail_limit(std::size_t limit, const char* what, std::uint64_t offset) {
  throw FormatError("more than " + std::to_string(limit) + " " + what + " at byte " +
                        std::to_string(offset) + " (the limit of this reader)",
                    offset);
}

// What may still be read of a message. One that holds data is mapped, whatever its size: neither
// its texts nor the number of its fields may take more memory or time than a header does.
class Budget {
 public:
  // As reader.next(); the bytes of a field for which `is_unread` holds are not looked at.
  template <typename IsUnread>
  bool next(Reader& reader, Field& field, IsUnread is_unread) {
    const std::uint64_t begin = reader.offset();
    if (!reader.next(field)) return false;
    std::uint64_t nbytes = reader.offset() - begin;
    if (is_unread(field.tag)) nbytes -= field.bytes.size();
    if (nbytes > left_) fail_limit(kMaxHeaderBytes, "bytes of header", begin);
    left_ -= nbytes;
    return true;
  }

 private:
  std::uint64_t left_ = kMaxHeaderBytes;
};

// A message whose content is of no interest must still be one.
void check_message(const Field& message) {
  Reader reader(message);
  for (Field field; reader.next(field);) {
  }
}

void append_dim(std::vector<std::int64_t>& shape, std::uint64_t dim, std::uint64_t offset) {
  if (shape.size() == kMaxDims) fail_limit(kMaxDims, "dimensions", offset);
  shape.push_back(static_cast<std::int64_t>(dim));
}

// Appends: a shape that comes in several pieces is their concatenation.
void read_shape(const Field& message, std::vector<std::int64_t>& shape) {
  Reader reader(message);
  for (Field field; reader.next(field);) {
    if (field.tag == bytes_tag(1)) {
      for (Reader packed(field); !packed.at_end();) {
        const std::uint64_t offset = packed.offset();
        append_dim(shape, packed.read_varint(), offset);
      }
    } else if (field.tag == varint_tag(1)) {
      append_dim(shape, field.value, field.offset);
    }
  }
}

// The low byte is the format, bits 8 to 23 the sub-format; some writers store the word as it is.
void set_format(TensorDescription& tensor, std::int64_t stored) {
  tensor.format = stored & 0xFF;
  if (stored > 0xFF && tensor.sub_format == 0) tensor.sub_format = stored >> 8 & 0xFFFF;
}

// Where a tensor's own message keeps data. A size beside them says what they should be.
struct InlineData {
  bool there = false;
  std::uint64_t offset = 0;
  std::uint64_t nbytes = 0;
};

InlineData data_of(const Field& field) { return {true, field.offset, field.bytes.size()}; }

void set_payload(TensorDescription& tensor, const InlineData& data, Payloads payloads,
                 std::uint64_t message_offset) {
  if (payloads == Payloads::within) {
    if (tensor.nbytes != data.nbytes && tensor.nbytes != 0) {
      tensor.note.add("holds " + std::to_string(data.nbytes) + " bytes and says " +
                      std::to_string(tensor.nbytes));
    }
    tensor.offset = data.offset;
    tensor.nbytes = data.nbytes;
    return;
  }
  // Data without a size are a version 1 dump's: in the message, not behind it.
  if (data.nbytes == 0 || tensor.nbytes != 0) return;
  throw FormatError("inline data (version 1): " + std::string(to_string(tensor.io)) + " " +
                        std::to_string(tensor.index) + " at byte " +
                        std::to_string(message_offset) + " holds its " +
                        std::to_string(data.nbytes) +
                        " bytes itself, expected them after the header",
                    message_offset);
}

// A message that comes in several pieces is all of them.
void read_original_op(const Field& message, TensorDescription& tensor,
                      std::optional<OriginalOp>& original_op) {
  if (!original_op) {
    original_op.emplace();
    tensor.original_format = 0;  // what a message leaves out is 0: NCHW
  }
  OriginalOp& op = *original_op;
  Reader reader(message);
  for (Field field; reader.next(field);) {
    if (field.tag == bytes_tag(1)) op.name = text_of(field);
    if (field.tag == varint_tag(2)) op.output_index = static_cast<std::uint32_t>(field.value);
    if (field.tag == varint_tag(4)) tensor.original_format = as_int32(field.value) & 0xFF;
  }
}

// OpInput and OpOutput: an output has original_op as number 4, which moves the rest by one.
// `original_op` is set if there is one.
template <Io io>
void read_tensor(const Field& message, Payloads payloads, Budget& budget, TensorDescription& tensor,
                 std::optional<OriginalOp>& original_op) {
  constexpr std::uint32_t kMoved = io == Io::output ? 1 : 0;
  constexpr std::uint32_t kData = bytes_tag(4 + kMoved);
  constexpr std::uint32_t kArgIndex = io == Io::output ? varint_tag(12) : varint_tag(10);
  std::int64_t format = 0;
  InlineData data;
  Reader reader(message);
  const auto is_data = [](std::uint32_t tag) { return tag == kData; };
  for (Field field; budget.next(reader, field, is_data);) {
    switch (field.tag) {
      case varint_tag(1):
        tensor.data_type = as_int32(field.value);
        break;
      case varint_tag(2):
        format = as_int32(field.value);
        break;
      case bytes_tag(3):
        read_shape(field, tensor.shape);
        break;
      case kData:
        data = data_of(field);
        break;
      case varint_tag(5 + kMoved):
        tensor.nbytes = field.value;
        break;
      case bytes_tag(6 + kMoved):
        read_shape(field, tensor.origin_shape);
        break;
      case varint_tag(7 + kMoved):
        tensor.sub_format = as_int32(field.value);
        break;
      case varint_tag(8 + kMoved):
        tensor.address = field.value;
        break;
      case kArgIndex:
        tensor.arg_index = static_cast<std::uint32_t>(field.value);
        break;
      default:
        if constexpr (io == Io::output) {
          if (field.tag == bytes_tag(4)) read_original_op(field, tensor, original_op);
          if (field.tag == bytes_tag(10)) check_message(field);  // dim_range
        } else if (field.tag == varint_tag(11)) {
          tensor.input_type = static_cast<std::uint32_t>(field.value);
        }
    }
  }
  tensor.dtype = find_data_type(tensor.data_type);
  set_format(tensor, format);
  set_payload(tensor, data, payloads, message.offset);
}

// OpBuffer and Workspace.
void read_bytes_tensor(const Field& message, Payloads payloads, Budget& budget,
                       TensorDescription& tensor) {
  constexpr std::uint32_t kData = bytes_tag(2);
  InlineData data;
  Reader reader(message);
  const auto is_data = [](std::uint32_t tag) { return tag == kData; };
  for (Field field; budget.next(reader, field, is_data);) {
    if (field.tag == kData) data = data_of(field);
    if (field.tag == varint_tag(3)) tensor.nbytes = field.value;
    if (field.tag == varint_tag(4)) tensor.arg_index = static_cast<std::uint32_t>(field.value);
  }
  set_payload(tensor, data, payloads, message.offset);
}

void read_attr(const Field& message, std::pair<std::string, std::string>& attr) {
  attr.first.clear();
  attr.second.clear();
  Reader reader(message);
  for (Field field; reader.next(field);) {
    if (field.tag == bytes_tag(1)) attr.first = text_of(field);
    if (field.tag == bytes_tag(2)) attr.second = text_of(field);
  }
}

constexpr std::size_t slot(Io io) { return static_cast<std::size_t>(io); }

struct Counts {
  std::array<std::size_t, 4> tensors{};  // by slot(io)
  std::size_t attrs = 0;
};

Counts count(Reader reader, Budget& budget) {
  Counts counts;
  std::size_t n_tensors = 0;
  const auto is_tensor = [](std::uint32_t tag) { return io_of(tag).has_value(); };
  for (Field field; budget.next(reader, field, is_tensor);) {
    if (const auto io = io_of(field.tag)) {
      ++counts.tensors[slot(*io)];
      ++n_tensors;
    } else if (field.tag == kAttr) {
      ++counts.attrs;
    }
    if (n_tensors > kMaxTensorsPerFile) fail_limit(kMaxTensorsPerFile, "tensors", field.offset);
    if (counts.attrs > kMaxAttrs) fail_limit(kMaxAttrs, "attributes", field.offset);
  }
  return counts;
}

void renew(TensorDescription& tensor, Io io, std::size_t index) {
  TensorDescription fresh;
  fresh.io = io;
  fresh.index = static_cast<std::uint32_t>(index);
  fresh.shape = std::move(tensor.shape);
  fresh.shape.clear();
  fresh.origin_shape = std::move(tensor.origin_shape);
  fresh.origin_shape.clear();
  tensor = std::move(fresh);
}

void read_any_tensor(const Field& message, Payloads payloads, Budget& budget,
                     TensorDescription& tensor, std::optional<OriginalOp>& original_op) {
  switch (tensor.io) {
    case Io::input:
      return read_tensor<Io::input>(message, payloads, budget, tensor, original_op);
    case Io::output:
      return read_tensor<Io::output>(message, payloads, budget, tensor, original_op);
    case Io::buffer:
    case Io::space:
      return read_bytes_tensor(message, payloads, budget, tensor);
  }
}

// One scalar field of DumpData.
void read_scalar(const Field& field, FileDescription& description) {
  switch (field.tag) {
    case kVersion:
      description.version = text_of(field);
      break;
    case kDumpTime:
      description.dump_time = field.value;
      break;
    case kOpName:
      description.op_name = text_of(field);
      break;
    case kDfxMessage:
      description.dfx_message = text_of(field);
      break;
    default:
      break;
  }
}

// Room for everything the message has; what the message may leave out gets its default.
void renew(FileDescription& description, const Counts& counts) {
  std::size_t n_tensors = 0;
  for (const std::size_t n : counts.tensors) n_tensors += n;
  description.tensors.resize(n_tensors);
  description.attrs.resize(counts.attrs);
  description.original_ops.clear();
  description.slices.clear();
  description.version.clear();
  description.dump_time = 0;
  description.op_name.clear();
  description.dfx_message.clear();
  description.note.clear();
}

}  // namespace

void decode_dump_data(std::span<const std::byte> message, std::uint64_t offset, Payloads payloads,
                      FileDescription& description) {
  Reader reader(message, offset);
  Budget budget;
  const Counts counts = count(reader, budget);
  renew(description, counts);

  std::array<std::size_t, 4> first{};  // by slot(io): the place of a kind's first tensor
  for (std::size_t i = 1; i < first.size(); ++i) first[i] = first[i - 1] + counts.tensors[i - 1];
  std::array<std::size_t, 4> n_read{};
  std::size_t n_attrs = 0;
  std::optional<OriginalOp> original_op;
  for (Field field; reader.next(field);) {
    if (const auto io = io_of(field.tag)) {
      const std::size_t index = n_read[slot(*io)]++;
      const std::size_t position = first[slot(*io)] + index;
      TensorDescription& tensor = description.tensors[position];
      renew(tensor, *io, index);
      original_op.reset();
      read_any_tensor(field, payloads, budget, tensor, original_op);
      if (original_op) {
        original_op->tensor = position;
        description.original_ops.push_back(*std::move(original_op));
      }
    } else if (field.tag == kAttr) {
      read_attr(field, description.attrs[n_attrs++]);
    } else {
      read_scalar(field, description);
    }
  }
}

}  // namespace fastdump
