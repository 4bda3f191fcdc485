#include "core/arrays/gather_array.hpp"

#include <algorithm>

#include "core/concurrency/thread_team.hpp"
#include "core/size.hpp"
#include "core/stream/chunk_cursor.hpp"
#include "core/stream/stream_sizes.hpp"

namespace fastdump {
namespace {

// Several chunks a thread, so that all end together. They may be larger than those of elements that
// are only read: what lies together on one side should not be cut up on the other.
constexpr std::uint64_t kChunksPerThread = 8;
constexpr std::uint64_t kMinChunkBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kMaxStreamedChunks = 8;

// More than caches hold.
constexpr std::uint64_t kMinStreamedBytes = std::uint64_t{32} << 20;

std::uint64_t chunk_elements(std::uint64_t nbytes, std::uint64_t n_threads,
                             std::size_t element_nbytes) {
  const std::uint64_t max_nbytes = kMaxStreamedChunks * stream_sizes().chunk_nbytes;
  const std::uint64_t chunk_nbytes =
      std::clamp(nbytes / (kChunksPerThread * n_threads), kMinChunkBytes, max_nbytes);
  return std::max<std::uint64_t>(chunk_nbytes / element_nbytes, 1);
}

}  // namespace

void gather_array(const HostLayout& layout, const std::byte* stored, std::size_t element_nbytes,
                  std::uint64_t first, std::uint64_t n, std::byte* to, int threads) {
  const std::uint64_t nbytes = multiply(n, element_nbytes);
  const auto n_threads = static_cast<std::uint64_t>(threads);
  const auto destination =
      nbytes >= kMinStreamedBytes ? kernels::Destination::streamed : kernels::Destination::cached;
  ChunkCursor cursor;
  cursor.add_track(n, chunk_elements(nbytes, n_threads, element_nbytes));
  run_in_threads(std::min(n_threads, cursor.n_chunks()), [&] {
    while (const auto chunk = cursor.take()) {
      layout.gather(stored, element_nbytes, first + chunk->first, chunk->n,
                    to + chunk->first * element_nbytes, destination);
      cursor.finish(*chunk);
    }
  });
}

}  // namespace fastdump
