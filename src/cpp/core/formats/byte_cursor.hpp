// A bounded reader of little-endian integers and byte runs: yields values and spans of the given
// bytes and looks at no byte outside of them. What runs past the end is a FormatError with its
// place in the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/errors.hpp"

namespace fastdump {

class ByteCursor {
 public:
  // `offset` is where in the file `bytes` begin.
  ByteCursor(std::span<const std::byte> bytes, std::uint64_t offset)
      : bytes_(bytes), offset_(offset) {}

  bool at_end() const { return bytes_.empty(); }
  std::uint64_t offset() const { return offset_; }
  std::uint64_t n_left() const { return bytes_.size(); }

  // `what` names what is read, for the message.
  std::span<const std::byte> take(std::uint64_t n, std::string_view what) {
    if (n > bytes_.size()) {
      throw FormatError(std::string(what) + " at byte " + std::to_string(offset_) + " needs " +
                            std::to_string(n) + " bytes, there are " +
                            std::to_string(bytes_.size()),
                        offset_);
    }
    const auto taken = bytes_.first(static_cast<std::size_t>(n));
    bytes_ = bytes_.subspan(static_cast<std::size_t>(n));
    offset_ += n;
    return taken;
  }

  std::uint32_t read_u32(std::string_view what) {
    return static_cast<std::uint32_t>(little_endian(take(4, what)));
  }
  std::int32_t read_i32(std::string_view what) { return static_cast<std::int32_t>(read_u32(what)); }
  std::uint64_t read_u64(std::string_view what) { return little_endian(take(8, what)); }

  // Of up to eight bytes.
  static std::uint64_t little_endian(std::span<const std::byte> bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;) {
      value = value << 8 | std::to_integer<std::uint64_t>(bytes[i]);
    }
    return value;
  }

 private:
  std::span<const std::byte> bytes_;
  std::uint64_t offset_;
};

}  // namespace fastdump
