#include "core/stream/stream_buffers.hpp"

#include <cstdint>

namespace fastdump {
namespace {

constexpr std::size_t kAlignment = 4096;

}  // namespace

void StreamBuffers::allocate() {
  storage_.reset(new std::byte[kKeptNbytes + kPieceNbytes + kAlignment]);
  const auto start = reinterpret_cast<std::uintptr_t>(storage_.get());
  memory_ = storage_.get() + (kAlignment - start % kAlignment) % kAlignment;
}

std::span<std::byte> StreamBuffers::gathered_side(std::size_t i, std::size_t n_sides) {
  if (n_gathered_sides_ < n_sides) {
    gathered_.reset(new std::byte[n_sides * kGatheredPieceNbytes]);
    n_gathered_sides_ = n_sides;
  }
  return {gathered_.get() + i * kGatheredPieceNbytes, kGatheredPieceNbytes};
}

}  // namespace fastdump
