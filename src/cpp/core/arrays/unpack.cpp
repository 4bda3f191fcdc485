#include "core/arrays/unpack.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "core/active_tier.hpp"
#include "core/concurrency/thread_team.hpp"
#include "core/errors.hpp"
#include "core/io/file_state.hpp"
#include "core/io/page_guard.hpp"
#include "core/size.hpp"
#include "core/stream/chunk_cursor.hpp"
#include "core/stream/stream_sizes.hpp"

namespace fastdump {

bool is_packed(kernels::Element element) {
  const int bits = kernels::element_bits(element);
  return bits > 0 && bits < 8;
}

void unpack(kernels::Element element, const std::byte* data, std::size_t n, std::byte* out,
            int threads) {
  const kernels::UnpackFunction unpack_chunk = active_tier().unpack[static_cast<int>(element)];
  const auto bits = static_cast<std::uint64_t>(kernels::element_bits(element));
  const auto n_threads = static_cast<std::uint64_t>(threads);
  ChunkCursor cursor;
  cursor.add_track(n, array_chunk_nbytes(n, n_threads));  // a code is a byte
  install_page_guard();
  std::atomic<bool> is_lost = false;
  run_in_threads(std::min(n_threads, cursor.n_chunks()), [&] {
    const PageGuard guard(
        data, static_cast<std::size_t>(packed_nbytes(n, kernels::element_bits(element))), is_lost);
    while (const auto chunk = cursor.take()) {
      unpack_chunk(data + chunk->first / 8 * bits, chunk->n, out + chunk->first);
      cursor.finish(*chunk);
    }
  });
  if (is_lost) throw FileChangedError(kLostMemory);
}

}  // namespace fastdump
