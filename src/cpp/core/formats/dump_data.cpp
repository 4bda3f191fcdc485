#include "core/formats/dump_data.hpp"

#include <algorithm>
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
std::string_view to_text(std::span<const std::byte> bytes) {
  // SAFETY: char may alias any object; the bytes outlive the view, which is copied at once.
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

[[noreturn, gnu::cold]] void fail_limit(std::size_t limit, const char* what, std::uint64_t offset) {
  throw FormatError("more than " + std::to_string(limit) + " " + what + " at byte " +
                        std::to_string(offset) + " (the limit of this reader)",
                    offset);
}

// What may still be read of a message. One that holds data may have any size: neither its texts nor
// the number of its fields may take more memory or time than a header does.
class Budget {
 public:
  // Reads the next field, as reader.next() does. The bytes of a field for which `is_unread` holds
  // will not be looked at.
  template <class Reader, class IsUnread>
  bool next(Reader& reader, Field& field, IsUnread is_unread) {
    const std::uint64_t begin = reader.offset();
    if (!reader.next(field)) return false;
    std::uint64_t nbytes = reader.offset() - begin;
    if (is_unread(field.tag)) nbytes -= field.nbytes;
    if (nbytes > left_) fail_limit(kMaxHeaderBytes, "bytes of header", begin);
    left_ -= nbytes;
    return true;
  }

 private:
  std::uint64_t left_ = kMaxHeaderBytes;
};

// A message whose content is of no interest must still be one.
template <class Reader>
void check_message(Reader reader) {
  for (Field field; reader.next(field);) {
  }
}

void append_dim(std::vector<std::int64_t>& shape, std::uint64_t dim, std::uint64_t offset) {
  if (shape.size() == kMaxDims) fail_limit(kMaxDims, "dimensions", offset);
  shape.push_back(static_cast<std::int64_t>(dim));
}

// Appends: a shape that comes in several pieces is their concatenation.
template <class Reader>
void read_shape(Reader reader, std::vector<std::int64_t>& shape) {
  for (Field field; reader.next(field);) {
    if (field.tag == bytes_tag(1)) {
      for (Reader packed = reader.message(field); !packed.at_end();) {
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
  std::uint64_t offset = 0;
  std::uint64_t nbytes = 0;
};

InlineData data_of(const Field& field) { return {field.offset, field.nbytes}; }

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
template <class Reader>
void read_original_op(Reader reader, TensorDescription& tensor,
                      std::optional<OriginalOp>& original_op) {
  if (!original_op) {
    original_op.emplace();
    tensor.original_format = 0;  // what a message leaves out is 0: NCHW
  }
  OriginalOp& op = *original_op;
  for (Field field; reader.next(field);) {
    if (field.tag == bytes_tag(1)) op.name = to_text(reader.bytes(field));
    if (field.tag == varint_tag(2)) op.output_index = static_cast<std::uint32_t>(field.value);
    if (field.tag == varint_tag(4)) tensor.original_format = as_int32(field.value) & 0xFF;
  }
}

// OpInput and OpOutput: an output has original_op as number 4, which moves the rest by one.
// `original_op` is set if there is one.
template <Io io, class Reader>
void read_tensor(Reader reader, Payloads payloads, Budget& budget, TensorDescription& tensor,
                 std::optional<OriginalOp>& original_op) {
  constexpr std::uint32_t kMoved = io == Io::output ? 1 : 0;
  constexpr std::uint32_t kData = bytes_tag(4 + kMoved);
  constexpr std::uint32_t kArgIndex = io == Io::output ? varint_tag(12) : varint_tag(10);
  const std::uint64_t message_offset = reader.offset();
  std::int64_t format = 0;
  InlineData data;
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
        read_shape(reader.message(field), tensor.shape);
        break;
      case kData:
        data = data_of(field);
        break;
      case varint_tag(5 + kMoved):
        tensor.nbytes = field.value;
        break;
      case bytes_tag(6 + kMoved):
        read_shape(reader.message(field), tensor.origin_shape);
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
          if (field.tag == bytes_tag(4))
            read_original_op(reader.message(field), tensor, original_op);
          if (field.tag == bytes_tag(10)) check_message(reader.message(field));  // dim_range
        } else if (field.tag == varint_tag(11)) {
          tensor.input_type = static_cast<std::uint32_t>(field.value);
        }
    }
  }
  tensor.dtype = find_data_type(tensor.data_type);
  set_format(tensor, format);
  set_payload(tensor, data, payloads, message_offset);
}

// OpBuffer and Workspace.
template <class Reader>
void read_bytes_tensor(Reader reader, Payloads payloads, Budget& budget,
                       TensorDescription& tensor) {
  constexpr std::uint32_t kData = bytes_tag(2);
  const std::uint64_t message_offset = reader.offset();
  InlineData data;
  const auto is_data = [](std::uint32_t tag) { return tag == kData; };
  for (Field field; budget.next(reader, field, is_data);) {
    if (field.tag == kData) data = data_of(field);
    if (field.tag == varint_tag(3)) tensor.nbytes = field.value;
    if (field.tag == varint_tag(4)) tensor.arg_index = static_cast<std::uint32_t>(field.value);
  }
  set_payload(tensor, data, payloads, message_offset);
}

template <class Reader>
void read_attr(Reader reader, std::pair<std::string, std::string>& attr) {
  attr.first.clear();
  attr.second.clear();
  for (Field field; reader.next(field);) {
    if (field.tag == bytes_tag(1)) attr.first = to_text(reader.bytes(field));
    if (field.tag == bytes_tag(2)) attr.second = to_text(reader.bytes(field));
  }
}

constexpr std::size_t slot(Io io) { return static_cast<std::size_t>(io); }

// What a new description has, but for the memory of its shapes.
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

// What the message may leave out gets its default.
void renew(FileDescription& description) {
  description.original_ops.clear();
  description.slices.clear();
  description.version.clear();
  description.dump_time = 0;
  description.op_name.clear();
  description.dfx_message.clear();
  description.header_note.clear();
  description.note.clear();
}

// Fills a description in one pass over a message. Tensors and attributes are written over those
// that the description has of another file.
template <class Reader>
class Decoder {
 public:
  Decoder(Reader reader, Payloads payloads, FileDescription& description)
      : reader_(reader), payloads_(payloads), description_(description) {}

  void run() {
    renew(description_);
    const auto is_tensor = [](std::uint32_t tag) { return io_of(tag).has_value(); };
    for (Field field; budget_.next(reader_, field, is_tensor);) {
      if (const auto io = io_of(field.tag)) {
        add_tensor(field, *io);
      } else if (field.tag == kAttr) {
        add_attr(field);
      } else {
        set_scalar(field);
      }
    }
    description_.tensors.resize(n_tensors_);
    description_.attrs.resize(n_attrs_);
    order_tensors();
  }

 private:
  // The place of a tensor among those of its kind is its index, until order_tensors().
  void add_tensor(const Field& field, Io io) {
    if (n_tensors_ == kMaxTensorsPerFile) {
      fail_limit(kMaxTensorsPerFile, "tensors", field.offset);
    }
    std::vector<TensorDescription>& tensors = description_.tensors;
    if (n_tensors_ == tensors.size()) tensors.emplace_back();
    TensorDescription& tensor = tensors[n_tensors_++];
    renew(tensor, io, n_of_[slot(io)]++);
    original_op_.reset();
    read_any_tensor(reader_.message(field), tensor);
    if (!original_op_) return;
    original_op_->tensor = tensor.index;
    description_.original_ops.push_back(*std::move(original_op_));
  }

  void read_any_tensor(Reader message, TensorDescription& tensor) {
    switch (tensor.io) {
      case Io::input:
        return read_tensor<Io::input>(message, payloads_, budget_, tensor, original_op_);
      case Io::output:
        return read_tensor<Io::output>(message, payloads_, budget_, tensor, original_op_);
      case Io::buffer:
      case Io::space:
        return read_bytes_tensor(message, payloads_, budget_, tensor);
    }
  }

  void add_attr(const Field& field) {
    if (n_attrs_ == kMaxAttrs) fail_limit(kMaxAttrs, "attributes", field.offset);
    auto& attrs = description_.attrs;
    if (n_attrs_ == attrs.size()) attrs.emplace_back();
    read_attr(reader_.message(field), attrs[n_attrs_++]);
  }

  void set_scalar(const Field& field) {
    switch (field.tag) {
      case kVersion:
        description_.version = to_text(reader_.bytes(field));
        break;
      case kDumpTime:
        description_.dump_time = field.value;
        break;
      case kOpName:
        description_.op_name = to_text(reader_.bytes(field));
        break;
      case kDfxMessage:
        description_.dfx_message = to_text(reader_.bytes(field));
        break;
      default:
        break;
    }
  }

  // Moves each tensor to where its kind and its index have it: a message may have them in any
  // order.
  void order_tensors() {
    std::array<std::size_t, 4> first{};  // by slot(io)
    for (std::size_t i = 1; i < first.size(); ++i) first[i] = first[i - 1] + n_of_[i - 1];
    std::vector<TensorDescription>& tensors = description_.tensors;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      for (;;) {
        const std::size_t place = first[slot(tensors[i].io)] + tensors[i].index;
        if (place == i) break;
        std::swap(tensors[i], tensors[place]);
      }
    }
    for (OriginalOp& op : description_.original_ops) op.tensor += first[slot(Io::output)];
  }

  Reader reader_;
  const Payloads payloads_;
  FileDescription& description_;
  Budget budget_;
  std::size_t n_tensors_ = 0;
  std::size_t n_attrs_ = 0;
  std::array<std::size_t, 4> n_of_{};      // tensors, by slot(io)
  std::optional<OriginalOp> original_op_;  // of the tensor that is being read
};

void cut(std::string& text, std::size_t max_nbytes, std::string_view what, Note& note) {
  if (text.size() <= max_nbytes) return;
  note.add("the " + std::string(what) + " of " + std::to_string(text.size()) +
           " bytes is cut after " + std::to_string(max_nbytes));
  text.resize(max_nbytes);
  text.shrink_to_fit();
}

template <class Bytes>
void decode(Bytes bytes, Payloads payloads, FileDescription& description) {
  using Reader = wire::Reader<Bytes>;
  Decoder<Reader>(Reader(bytes), payloads, description).run();
}

// The number that a varint at `at` has, and behind it `at`; empty if it is none or does not end
// within the bytes.
std::optional<std::uint64_t> read_varint_at(std::span<const std::byte> bytes, std::uint64_t& at) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64 && at < bytes.size(); shift += 7) {
    const auto byte = std::to_integer<std::uint64_t>(bytes[static_cast<std::size_t>(at++)]);
    value |= (byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

}  // namespace

bool may_be_dump_data(std::span<const std::byte> head, std::uint64_t file_nbytes) {
  std::uint64_t at = 0;
  int n_open_groups = 0;
  while (at < head.size()) {
    const auto tag = read_varint_at(head, at);
    if (!tag) return at == head.size() && head.size() < file_nbytes;
    if (*tag >> 3 == 0) return false;
    std::optional<std::uint64_t> nbytes = 0;  // that follow the tag
    switch (static_cast<wire::Type>(*tag & 7)) {
      case wire::Type::varint:
        if (!read_varint_at(head, at)) return at == head.size() && head.size() < file_nbytes;
        break;
      case wire::Type::fixed64:
        nbytes = 8;
        break;
      case wire::Type::bytes:
        nbytes = read_varint_at(head, at);
        if (!nbytes) return at == head.size() && head.size() < file_nbytes;
        break;
      case wire::Type::group_begin:
        ++n_open_groups;
        break;
      case wire::Type::group_end:
        if (--n_open_groups < 0) return false;
        break;
      case wire::Type::fixed32:
        nbytes = 4;
        break;
      default:
        return false;
    }
    if (*nbytes > file_nbytes - at) return false;
    at += *nbytes;
  }
  return at != 0 && (at < file_nbytes || n_open_groups == 0);
}

void cut_texts(FileDescription& description) {
  Note& note = description.header_note;
  const std::size_t n_tensors = std::max<std::size_t>(description.tensors.size(), 1);
  cut(description.op_name,
      std::clamp(kMaxRepeatedNameNbytes / n_tensors, kMinNameNbytes, kMaxNameNbytes), "op_name",
      note);
  cut(description.version, kMaxNameNbytes, "version", note);
  cut(description.dfx_message, kMaxTextNbytes, "dfx_message", note);
  for (auto& [name, value] : description.attrs) {
    cut(name, kMaxNameNbytes, "name of an attribute", note);
    cut(value, kMaxTextNbytes, "value of an attribute", note);
  }
  for (OriginalOp& op : description.original_ops) {
    cut(op.name, kMaxNameNbytes, "name of an original operator", note);
  }
}

void decode_dump_data(std::span<const std::byte> message, std::uint64_t offset, Payloads payloads,
                      FileDescription& description) {
  decode(wire::MemoryBytes(message, offset), payloads, description);
}

void decode_dump_data(HeaderBytes& file, FileDescription& description) {
  decode(wire::FileBytes(file, 0, file.file_nbytes()), Payloads::within, description);
}

}  // namespace fastdump
