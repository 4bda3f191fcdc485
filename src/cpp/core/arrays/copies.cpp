#include "core/arrays/copies.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/concurrency/thread_team.hpp"
#include "core/stream/chunk_cursor.hpp"
#include "core/stream/stream_sizes.hpp"

namespace fastdump {

void make_copies(std::span<const Copy> copies, int threads) {
  const auto n_threads = static_cast<std::uint64_t>(threads);
  std::uint64_t nbytes = 0;
  for (const Copy& copy : copies) nbytes += copy.nbytes;
  const std::uint64_t chunk_nbytes = array_chunk_nbytes(nbytes, n_threads);
  ChunkCursor cursor;
  for (const Copy& copy : copies) cursor.add_track(copy.nbytes, chunk_nbytes);
  // Short copies are chunks, too, but not worth a thread each.
  run_in_threads(std::min(n_threads, nbytes / chunk_nbytes + 1), [&] {
    while (const auto chunk = cursor.take()) {
      const Copy& copy = copies[chunk->track];
      std::memcpy(copy.to + chunk->first, copy.from + chunk->first, chunk->n);
      cursor.finish(*chunk);
    }
  });
}

}  // namespace fastdump
