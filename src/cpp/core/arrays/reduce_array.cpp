#include "core/arrays/reduce_array.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "core/active_tier.hpp"
#include "core/concurrency/threads.hpp"
#include "kernels/fp_environment.hpp"

namespace fastdump {
namespace {

// A whole number of blocks of any type, and more work than starting a thread.
constexpr std::size_t kChunkElements = 8 * kernels::kMaxBlockElements;

}  // namespace

kernels::Statistics reduce_array(kernels::Element element, kernels::Level level,
                                 const std::byte* data, std::size_t n, int threads) {
  const kernels::DefaultFpEnvironment environment;
  const kernels::Tier& tier = active_tier();
  const std::size_t chunk_bytes =
      kChunkElements / 8 * static_cast<std::size_t>(kernels::element_bits(element));
  const std::size_t n_chunks = (n + kChunkElements - 1) / kChunkElements;
  std::atomic<std::size_t> next_chunk = 0;
  std::mutex mutex;
  kernels::Partial total;
  const auto work = [&] {
    const kernels::DefaultFpEnvironment thread_environment;
    kernels::Partial partial;
    for (std::size_t chunk = next_chunk++; chunk < n_chunks; chunk = next_chunk++) {
      const std::size_t first = chunk * kChunkElements;
      partial.add(tier, element, level, data + chunk * chunk_bytes,
                  std::min(n - first, kChunkElements), first);
    }
    const std::lock_guard lock(mutex);
    total.add(partial, element);
  };
  run_in_threads(std::min(static_cast<std::size_t>(threads), n_chunks), work);
  return total.finish(level, element);
}

}  // namespace fastdump
