// An input that also says what is done with it: choices are taken from its end, so that a file, or
// a message, keeps its start wherever an input is cut.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace fastdump::fuzz {

class Choices {
 public:
  explicit Choices(std::span<const std::byte> input) : rest_(input) {}

  // What no choice has taken.
  std::span<const std::byte> rest() const { return rest_; }
  bool at_end() const { return rest_.empty(); }

  // 0 at the end of the input.
  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const auto value = std::to_integer<std::uint8_t>(rest_.back());
    rest_ = rest_.first(rest_.size() - 1);
    return value;
  }
  bool flag() { return byte() % 2 != 0; }

  // A number from 0 to `most`.
  std::uint64_t up_to(std::uint64_t most) {
    std::uint64_t value = byte();
    for (std::uint64_t limit = 0x100; limit != 0 && limit <= most; limit <<= 8) {
      value = value << 8 | byte();
    }
    return most == UINT64_MAX ? value : value % (most + 1);
  }
  template <class Value, std::size_t n>
  const Value& of(const std::array<Value, n>& values) {
    return values[static_cast<std::size_t>(up_to(n - 1))];
  }
  // Small most of the time, and now and then anything.
  std::uint64_t size() {
    const std::uint8_t kind = byte();
    if (kind < 0xC0) return kind % 20;
    if (kind < 0xE0) return std::uint64_t{1} << kind % 32 * 2;
    return up_to(UINT64_MAX);
  }

 private:
  std::span<const std::byte> rest_;
};

}  // namespace fastdump::fuzz
