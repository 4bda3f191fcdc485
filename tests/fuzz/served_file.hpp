// A file of which the first bytes are at hand and the others are read when somebody asks. What lies
// behind the bytes that there are is zeros, or gone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/formats/header_bytes.hpp"
#include "target.hpp"

namespace fastdump::fuzz {

class ServedFile final : private Exact, public HeaderBytes {
 public:
  // The first n_head of the bytes are at hand; n_zeros follow the last one.
  ServedFile(std::span<const std::byte> bytes, std::size_t n_head, std::uint64_t n_zeros = 0)
      : Exact(bytes.first(n_head)),
        HeaderBytes(Exact::bytes(), bytes.size() + n_zeros),
        bytes_(bytes),
        nbytes_(bytes.size() + n_zeros) {}

  // From now on the file ends there.
  void shrink(std::uint64_t nbytes) { nbytes_ = std::min(nbytes_, nbytes); }
  bool has_all_bytes() override { return nbytes_ == file_nbytes(); }

 private:
  std::size_t fetch(std::uint64_t offset, std::span<std::byte> buffer) override {
    if (offset >= nbytes_) return 0;
    const std::size_t n =
        static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), nbytes_ - offset));
    std::fill_n(buffer.begin(), n, std::byte{0});
    if (offset < bytes_.size()) {
      const auto there = bytes_.subspan(static_cast<std::size_t>(offset));
      std::copy_n(there.begin(), std::min(n, there.size()), buffer.begin());
    }
    return n;
  }

  std::span<const std::byte> bytes_;
  std::uint64_t nbytes_;
};

}  // namespace fastdump::fuzz
