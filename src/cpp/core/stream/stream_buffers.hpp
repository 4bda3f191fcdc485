// The memory that one thread reads into, and keeps between chunks.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace fastdump {

// Pieces that are read stay in the second-level cache until they are reduced; of two tensors both
// pieces do. A multiple of a block of every element type.
inline constexpr std::size_t kPieceNbytes = std::size_t{256} << 10;
// Pieces that are gathered are larger: where a format scatters what the host has together, more of
// what the host has together is wanted at a time.
inline constexpr std::size_t kGatheredPieceNbytes = std::size_t{1} << 20;

// Memory is taken when it is first asked for.
class StreamBuffers {
 public:
  // For the first bytes of a file that may be streamed next: a file no larger than this fits whole.
  // Streaming leaves the first kKeptNbytes of it as they are.
  static constexpr std::size_t kKeptNbytes = std::size_t{64} << 10;
  std::span<std::byte> file_start() { return {memory(), kPieceNbytes}; }

  // A side's buffer, of `n_sides` that are in use at a time, which together hold a piece.
  std::span<std::byte> side(std::size_t i, std::size_t n_sides) {
    const std::size_t nbytes = kPieceNbytes / n_sides;
    return {memory() + kKeptNbytes + i * nbytes, nbytes};
  }
  // A side's buffer for elements that are gathered, or lie beside such.
  std::span<std::byte> gathered_side(std::size_t i, std::size_t n_sides);

 private:
  std::byte* memory() {
    if (memory_ == nullptr) allocate();
    return memory_;
  }
  void allocate();

  std::unique_ptr<std::byte[]> storage_;
  std::byte* memory_ = nullptr;            // in storage_, aligned
  std::unique_ptr<std::byte[]> gathered_;  // once it is needed
  std::size_t n_gathered_sides_ = 0;
};

}  // namespace fastdump
