#include "core/arrays/gather_array.hpp"

#include <algorithm>
#include <atomic>

#include "core/concurrency/threads.hpp"

namespace fastdump {
namespace {

// Large enough that what lies together on one side is not cut up on the other, small enough that
// all threads end together.
constexpr std::uint64_t kMinChunkBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kMaxChunkBytes = std::uint64_t{32} << 20;
constexpr std::uint64_t kChunksPerThread = 8;

// More than caches hold.
constexpr std::uint64_t kMinStreamedBytes = std::uint64_t{32} << 20;

}  // namespace

void gather_array(const HostLayout& layout, const std::byte* stored, std::size_t element_nbytes,
                  std::uint64_t first, std::uint64_t n, std::byte* to, int threads) {
  const std::uint64_t nbytes = n * element_nbytes;
  const auto n_threads = static_cast<std::uint64_t>(threads);
  const std::uint64_t chunk_nbytes =
      std::clamp(nbytes / (kChunksPerThread * n_threads), kMinChunkBytes, kMaxChunkBytes);
  const std::uint64_t chunk = std::max<std::uint64_t>(chunk_nbytes / element_nbytes, 1);
  const std::uint64_t n_chunks = (n + chunk - 1) / chunk;
  const auto destination =
      nbytes >= kMinStreamedBytes ? kernels::Destination::streamed : kernels::Destination::cached;
  std::atomic<std::uint64_t> next_chunk = 0;
  const auto work = [&] {
    for (std::uint64_t i = next_chunk++; i < n_chunks; i = next_chunk++) {
      const std::uint64_t done = i * chunk;
      layout.gather(stored, element_nbytes, first + done, std::min(chunk, n - done),
                    to + done * element_nbytes, destination);
    }
  };
  run_in_threads(std::min(n_threads, n_chunks), work);
}

}  // namespace fastdump
