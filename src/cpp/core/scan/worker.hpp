// What one thread needs to reduce bytes, and keeps between pieces of work.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "core/scan/logical_elements.hpp"
#include "kernels/block.hpp"
#include "kernels/partial.hpp"

namespace fastdump {

// Reads in pieces that stay in the second-level cache until they are reduced. A multiple of a block
// of every element type.
inline constexpr std::size_t kBufferBytes = std::size_t{256} << 10;
// Gathers in larger pieces: where a format scatters what the host has together, more of what it has
// together is wanted at a time.
inline constexpr std::size_t kGatherBytes = std::size_t{1} << 20;

class Worker {
 public:
  Worker(const kernels::Tier& tier, kernels::Level level);

  // Aligned, kBufferBytes long.
  std::span<std::byte> buffer() const { return buffer_; }

  // Elements first_index and on of a tensor; adds to the result that finish() gives.
  void reduce(kernels::Element element, const std::byte* data, std::size_t n,
              std::uint64_t first_index) {
    partial_.add(tier_, element, level_, data, n, first_index);
  }
  // Likewise logical elements of the tensor that is stored at `stored`.
  void reduce_gathered(kernels::Element element, const LogicalElements& logical,
                       const std::byte* stored, std::uint64_t first, std::uint64_t n);
  void clear() { partial_.clear(); }
  const kernels::Partial& partial() const { return partial_; }
  kernels::Statistics finish(kernels::Element element) const {
    return partial_.finish(level_, element);
  }

  kernels::Level level() const { return level_; }
  // Whether statistics of this type need its bytes at all.
  bool needs_bytes(kernels::Element element) const;

 private:
  const kernels::Tier& tier_;
  const kernels::Level level_;
  kernels::Partial partial_;
  std::unique_ptr<std::byte[]> storage_;
  std::span<std::byte> buffer_;
  std::unique_ptr<std::byte[]> gathered_;  // kGatherBytes, once they are needed
};

}  // namespace fastdump
