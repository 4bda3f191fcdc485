#include "core/arrays/unpack.hpp"

#include <algorithm>
#include <atomic>

#include "core/active_tier.hpp"
#include "core/concurrency/threads.hpp"

namespace fastdump {
namespace {

// Whole bytes of any type, and more work than starting a thread.
constexpr std::size_t kChunkElements = std::size_t{1} << 20;

}  // namespace

bool is_packed(kernels::Element element) {
  const int bits = kernels::element_bits(element);
  return bits > 0 && bits < 8;
}

void unpack(kernels::Element element, const std::byte* data, std::size_t n, std::byte* out,
            int threads) {
  const kernels::UnpackFunction unpack_chunk = active_tier().unpack[static_cast<int>(element)];
  const std::size_t chunk_bytes =
      kChunkElements / 8 * static_cast<std::size_t>(kernels::element_bits(element));
  const std::size_t n_chunks = (n + kChunkElements - 1) / kChunkElements;
  std::atomic<std::size_t> next_chunk = 0;
  run_in_threads(std::min(static_cast<std::size_t>(threads), n_chunks), [&] {
    for (std::size_t chunk = next_chunk++; chunk < n_chunks; chunk = next_chunk++) {
      const std::size_t first = chunk * kChunkElements;
      unpack_chunk(data + chunk * chunk_bytes, std::min(n - first, kChunkElements), out + first);
    }
  });
}

}  // namespace fastdump
