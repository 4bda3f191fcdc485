// Standard files for the native tests: messages are encoded here, by hand, and described from
// memory that ends where the header ends, so that a sanitizer sees any look beyond it. Payloads
// are never there, only their size is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "check.hpp"
#include "core/errors.hpp"
#include "core/formats/standard.hpp"

namespace fastdump::tests {

inline constexpr std::uint64_t kMaxU64 = UINT64_MAX;

inline std::string little_endian(std::uint64_t value, int nbytes) {
  std::string bytes;
  for (int i = 0; i < nbytes; ++i) bytes += static_cast<char>(value >> 8 * i & 0xFF);
  return bytes;
}

inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7F) | 0x80);
  return bytes + static_cast<char>(value);
}

class Message {
 public:
  Message& raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  Message& number(unsigned field, std::uint64_t value) {
    return raw(varint(field << 3)).raw(varint(value));
  }
  Message& text(unsigned field, std::string_view value) {
    return raw(varint(field << 3 | 2)).raw(varint(value.size())).raw(value);
  }
  Message& message(unsigned field, const Message& value) { return text(field, value.bytes()); }
  Message& shape(unsigned field, const std::vector<std::uint64_t>& dims) {
    std::string packed;
    for (const std::uint64_t dim : dims) packed += varint(dim);
    return message(field, Message().text(1, packed));
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

struct Tensor {
  std::uint64_t data_type = 1;
  // The initializer is for GCC, which else warns wherever the shape is left out.
  std::vector<std::uint64_t> shape = {};  // NOLINT(readability-redundant-member-init)
  std::uint64_t size = 0;
  std::uint64_t address = 0x1000;
  std::uint64_t format = 2;
  std::uint64_t sub_format = 0;
};

inline Message output(const Tensor& t) {
  return Message()
      .number(1, t.data_type)
      .number(2, t.format)
      .shape(3, t.shape)
      .number(6, t.size)
      .number(8, t.sub_format)
      .number(9, t.address);
}

inline Message input(const Tensor& t) {
  return Message()
      .number(1, t.data_type)
      .number(2, t.format)
      .shape(3, t.shape)
      .number(5, t.size)
      .number(7, t.sub_format)
      .number(8, t.address);
}

inline Message sized(std::uint64_t size) { return Message().number(1, 0).number(3, size); }

// A copy in memory that ends where the bytes end.
class Head {
 public:
  explicit Head(std::string_view bytes)
      : size_(bytes.size()), bytes_(std::make_unique<std::byte[]>(size_)) {
    for (std::size_t i = 0; i < size_; ++i) bytes_[i] = static_cast<std::byte>(bytes[i]);
  }
  std::span<const std::byte> span() const { return {bytes_.get(), size_}; }

 private:
  std::size_t size_;
  std::unique_ptr<std::byte[]> bytes_;
};

inline std::string with_length(const Message& header) {
  return little_endian(header.bytes().size(), 8) + header.bytes();
}

inline FileDescription describe(const Message& header, std::uint64_t payload_nbytes) {
  const Head head(with_length(header));
  FileDescription description;
  describe_standard(head.span(), head.span().size() + payload_nbytes, {}, description);
  return description;
}

inline TensorDescription describe(const Tensor& tensor, std::uint64_t payload_nbytes) {
  return describe(Message().message(3, output(tensor)), payload_nbytes).tensors.at(0);
}

inline TensorDescription describe(const Tensor& tensor) { return describe(tensor, tensor.size); }

// What find_standard_header_end() finds, or as a FormatError why it finds nothing.
inline std::uint64_t standard_header_end(std::span<const std::byte> head,
                                         std::uint64_t file_nbytes) {
  const auto end = find_standard_header_end(head, file_nbytes);
  if (const auto* refusal = std::get_if<Refusal>(&end)) {
    throw FormatError(refusal->what, refusal->offset);
  }
  return std::get<std::uint64_t>(end);
}

template <typename Function>
std::optional<FormatError> error_of(Function function) {
  try {
    function();
  } catch (const FormatError& error) {
    return error;
  }
  return std::nullopt;
}

// Payloads of 48, 8 and 16 bytes, in this order.
inline Message two_inputs_and_output(std::uint64_t first, std::uint64_t second,
                                     std::uint64_t third) {
  return Message()
      .message(3, output({.shape = {4}, .size = 16, .address = third}))
      .message(4, input({.shape = {12}, .size = 48, .address = first}))
      .message(4, input({.shape = {2}, .size = 8, .address = second}));
}

inline void check_tensor(const char* file, int line, const TensorDescription& tensor, Status status,
                         std::uint64_t n_elements, std::string_view note) {
  check_equal(file, line, "status", to_string(tensor.status), to_string(status));
  check_equal(file, line, "n_elements", tensor.n_elements, n_elements);
  check_equal(file, line, "note", tensor.note.text(), note);
}

template <typename Function>
void check_refused(const char* file, int line, Function function, std::string_view words,
                   std::uint64_t offset) {
  const auto error = error_of(function);
  check_equal(file, line, "error", error ? error->what() : "none", words);
  check_equal(file, line, "offset", error ? error->offset() : 0, offset);
}

}  // namespace fastdump::tests

// That this tensor has this status, so many elements, this note.
#define CHECK_TENSOR(tensor, status, n_elements, note) \
  fastdump::tests::check_tensor(__FILE__, __LINE__, tensor, Status::status, n_elements, note)

// That this is refused, in these words, at this byte of the file.
#define CHECK_REFUSED(expression, words, offset) \
  fastdump::tests::check_refused(__FILE__, __LINE__, [&] { (void)(expression); }, words, offset)
