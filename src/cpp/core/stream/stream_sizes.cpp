#include "core/stream/stream_sizes.hpp"

#include <algorithm>

#include "core/environment.hpp"

namespace fastdump {
namespace {

StreamSizes find_stream_sizes() {
  StreamSizes sizes;
  if (const auto mib = number_in_environment("FASTDUMP_CHUNK_MIB", 1, 1 << 10)) {
    sizes.chunk_nbytes = static_cast<std::uint64_t>(*mib) << 20;
  }
  if (const auto mib = number_in_environment("FASTDUMP_MMAP_MIB", 0, 1 << 20)) {
    sizes.min_mapped_nbytes = static_cast<std::uint64_t>(*mib) << 20;
  }
  return sizes;
}

}  // namespace

const StreamSizes& stream_sizes() {
  static const StreamSizes sizes = find_stream_sizes();
  return sizes;
}

std::uint64_t array_chunk_nbytes(std::uint64_t nbytes, std::uint64_t n_threads) {
  constexpr std::uint64_t kUnit = std::uint64_t{1} << 20;
  constexpr std::uint64_t kChunksPerThread = 8;
  const std::uint64_t even = nbytes / (kChunksPerThread * n_threads) / kUnit * kUnit;
  return std::clamp(even, kUnit, stream_sizes().chunk_nbytes);
}

}  // namespace fastdump
