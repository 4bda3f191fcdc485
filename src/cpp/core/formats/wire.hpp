// A bounded reader of protobuf's wire format: it allocates nothing and looks at no byte outside of
// its message. Fields that nobody asks for are skipped, whatever their wire type. What cannot be
// read is a FormatError with its place in the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/errors.hpp"
#include "core/formats/header_bytes.hpp"

namespace fastdump::wire {

// No message of ours has groups; deep or long ones are an attack.
inline constexpr int kMaxGroupDepth = 4;
inline constexpr std::uint64_t kMaxGroupBytes = std::uint64_t{1} << 20;

enum class Type : std::uint8_t {
  varint = 0,
  fixed64 = 1,
  bytes = 2,
  group_begin = 3,
  group_end = 4,
  fixed32 = 5,
};

constexpr std::uint32_t tag(std::uint32_t number, Type type) {
  return number << 3 | static_cast<std::uint32_t>(type);
}
constexpr std::uint32_t varint_tag(std::uint32_t number) { return tag(number, Type::varint); }
constexpr std::uint32_t bytes_tag(std::uint32_t number) { return tag(number, Type::bytes); }

struct Field {
  // Number and wire type. A switch on both treats a known number of another type as unknown, as
  // protobuf does.
  std::uint32_t tag = 0;
  // Of a varint.
  std::uint64_t value = 0;
  // Where in the file the value begins, and how long the value of a string, of bytes, of a message
  // or of packed numbers is. Reader::bytes() has it.
  std::uint64_t offset = 0;
  std::uint64_t nbytes = 0;
};

// The bytes of a message that lies in memory.
class MemoryBytes {
 public:
  // `offset` is where in the file `bytes` begin.
  MemoryBytes(std::span<const std::byte> bytes, std::uint64_t offset)
      : begin_(bytes.data()), at_(begin_), end_(begin_ + bytes.size()), offset_(offset) {}

  bool at_end() const { return at_ == end_; }
  std::uint64_t n_left() const { return static_cast<std::uint64_t>(end_ - at_); }
  // In the file, of the next byte.
  std::uint64_t offset() const { return offset_ + static_cast<std::uint64_t>(at_ - begin_); }
  std::uint64_t next() { return std::to_integer<std::uint64_t>(*at_++); }
  void skip(std::uint64_t n) { at_ += n; }
  // Bytes that were skipped.
  std::span<const std::byte> bytes(const Field& field) const {
    return {begin_ + (field.offset - offset_), static_cast<std::size_t>(field.nbytes)};
  }
  MemoryBytes message(const Field& field) const { return {bytes(field), field.offset}; }

 private:
  const std::byte* begin_;
  const std::byte* at_;
  const std::byte* end_;
  std::uint64_t offset_;
};

// The bytes of a message that lies in a file, of which those are read that somebody looks at. A
// message within it must have been read before the one around it is read on: then every byte comes
// from one read.
class FileBytes {
 public:
  FileBytes(HeaderBytes& file, std::uint64_t begin, std::uint64_t end)
      : file_(&file), at_(begin), end_(end) {}

  bool at_end() const { return at_ == end_; }
  std::uint64_t n_left() const { return end_ - at_; }
  std::uint64_t offset() const { return at_; }
  std::uint64_t next() {
    return std::to_integer<std::uint64_t>(file_->read(at_++, 1, kAhead).front());
  }
  void skip(std::uint64_t n) { at_ += n; }
  // The bytes stay until the next one is read.
  std::span<const std::byte> bytes(const Field& field) const {
    return file_->read(field.offset, static_cast<std::size_t>(field.nbytes), kAhead);
  }
  FileBytes message(const Field& field) const {
    return {*file_, field.offset, field.offset + field.nbytes};
  }

 private:
  // Most headers are shorter, and what is skipped is mostly longer.
  static constexpr std::size_t kAhead = 4096;

  HeaderBytes* file_;
  std::uint64_t at_;
  std::uint64_t end_;
};

template <class Bytes>
class Reader {
 public:
  explicit Reader(Bytes bytes) : bytes_(bytes) {}

  bool at_end() const { return bytes_.at_end(); }
  // In the file, of the next byte to be read.
  std::uint64_t offset() const { return bytes_.offset(); }

  // False at the end of the message.
  bool next(Field& field) {
    if (at_end()) return false;
    const std::uint64_t tag_offset = offset();
    field.tag = read_tag();
    if (type_of(field.tag) == Type::group_end) {
      fail("a group ends", tag_offset, "but none has begun");
    }
    read_value(field, tag_offset, 0);
    return true;
  }

  std::uint64_t read_varint() {
    const std::uint64_t start = offset();
    if (at_end()) fail("a varint", start, "runs past the end of its message");
    const std::uint64_t first = bytes_.next();
    return first < 0x80 ? first : read_long_varint(first & 0x7F, start);
  }

  // Of the field that was read last.
  std::span<const std::byte> bytes(const Field& field) const { return bytes_.bytes(field); }
  Reader message(const Field& field) const { return Reader(bytes_.message(field)); }

 private:
  static constexpr Type type_of(std::uint32_t tag) { return static_cast<Type>(tag & 7); }

  std::uint64_t read_long_varint(std::uint64_t value, std::uint64_t start) {
    for (int shift = 7;; shift += 7) {
      if (at_end()) fail("a varint", start, "runs past the end of its message");
      const std::uint64_t byte = bytes_.next();
      // The tenth byte holds bit 63 and nothing else.
      if (shift == 63 && byte > 1) fail("a varint", start, "does not fit in 64 bits");
      value |= (byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
  }

  std::uint32_t read_tag() {
    const std::uint64_t start = offset();
    const std::uint64_t value = read_varint();
    if (value < 8 || value > UINT32_MAX) {
      fail("field number " + std::to_string(value >> 3), start, "is not in 1 to 536870911");
    }
    return static_cast<std::uint32_t>(value);
  }

  void read_value(Field& field, std::uint64_t tag_offset, int depth) {
    switch (type_of(field.tag)) {
      case Type::varint:
        field.offset = offset();
        field.value = read_varint();
        return;
      case Type::fixed64:
        skip_value(8, field, tag_offset);
        return;
      case Type::bytes:
        skip_value(read_varint(), field, tag_offset);
        return;
      case Type::group_begin:
        skip_group(field.tag >> 3, tag_offset, depth + 1);
        return;
      case Type::fixed32:
        skip_value(4, field, tag_offset);
        return;
      case Type::group_end:  // the callers' business
        break;
    }
    fail("field " + std::to_string(field.tag >> 3), tag_offset,
         "has wire type " + std::to_string(field.tag & 7) + ", expected 0 to 5");
  }

  void skip_value(std::uint64_t n, Field& field, std::uint64_t tag_offset) {
    if (n > bytes_.n_left()) {
      fail("field " + std::to_string(field.tag >> 3), tag_offset,
           "needs " + std::to_string(n) + " bytes, its message has " +
               std::to_string(bytes_.n_left()));
    }
    field.offset = offset();
    field.nbytes = n;
    bytes_.skip(n);
  }

  void skip_group(std::uint32_t number, std::uint64_t group_offset, int depth) {
    if (depth > kMaxGroupDepth) fail("groups", group_offset, "are nested too deeply");
    while (!at_end()) {
      const std::uint64_t tag_offset = offset();
      if (tag_offset - group_offset > kMaxGroupBytes)
        fail("the group", group_offset, "is too long");
      Field inner;
      inner.tag = read_tag();
      if (inner.tag == tag(number, Type::group_end)) return;
      if (type_of(inner.tag) == Type::group_end) {
        fail("another group than " + std::to_string(number), tag_offset, "ends");
      }
      read_value(inner, tag_offset, depth);
    }
    fail("the group", group_offset, "has no end");
  }

  [[noreturn, gnu::cold, gnu::noinline]] static void fail(const std::string& what,
                                                          std::uint64_t offset,
                                                          const std::string& problem) {
    throw FormatError(what + " at byte " + std::to_string(offset) + " " + problem, offset);
  }

  Bytes bytes_;
};

}  // namespace fastdump::wire
