// A file whose bytes are all in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/formats/header_bytes.hpp"

namespace fastdump::tests {

class WholeFile final : public HeaderBytes {
 public:
  explicit WholeFile(std::span<const std::byte> bytes) : HeaderBytes(bytes, bytes.size()) {}
  bool has_all_bytes() override { return true; }

 private:
  std::size_t fetch(std::uint64_t, std::span<std::byte>) override { return 0; }
};

}  // namespace fastdump::tests
