#include "core/arrays/gather_array.hpp"

#include <algorithm>
#include <atomic>

#include "core/concurrency/thread_team.hpp"
#include "core/errors.hpp"
#include "core/io/file_state.hpp"
#include "core/io/page_guard.hpp"
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
  install_page_guard();
  std::atomic<bool> is_lost = false;
  run_in_threads(std::min(n_threads, cursor.n_chunks()), [&] {
    const PageGuard guard(
        stored, static_cast<std::size_t>(multiply(layout.n_stored(), element_nbytes)), is_lost);
    while (const auto chunk = cursor.take()) {
      layout.gather(stored, element_nbytes, first + chunk->first, chunk->n,
                    to + chunk->first * element_nbytes, destination);
      cursor.finish(*chunk);
    }
  });
  if (is_lost) throw FileChangedError(kLostMemory);
}

}  // namespace fastdump
