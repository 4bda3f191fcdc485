#include "core/arrays/compare_array.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "core/active_tier.hpp"
#include "core/concurrency/threads.hpp"
#include "kernels/fp_environment.hpp"
#include "kernels/pair_divergence.hpp"

namespace fastdump {
namespace {

// More work than starting a thread.
constexpr std::size_t kChunkElements = 32 * kernels::kPairBlockElements;

// Chunks of the pairs added up by `threads` threads, each with a Partial of its own.
template <class Partial, class Add>
Partial reduce(const kernels::PairOperands& operands, std::size_t n, int threads, Add add) {
  const auto chunk_bytes = [](kernels::Element element) {
    return kChunkElements / 8 * static_cast<std::size_t>(kernels::element_bits(element));
  };
  const std::size_t n_chunks = (n + kChunkElements - 1) / kChunkElements;
  std::atomic<std::size_t> next_chunk = 0;
  std::mutex mutex;
  Partial total;
  const auto work = [&] {
    const kernels::DefaultFpEnvironment environment;
    Partial partial;
    for (std::size_t chunk = next_chunk++; chunk < n_chunks; chunk = next_chunk++) {
      kernels::PairOperands at = operands;
      at.data_a += chunk * chunk_bytes(operands.a);
      at.data_b += chunk * chunk_bytes(operands.b);
      const std::size_t first = chunk * kChunkElements;
      add(partial, at, std::min(n - first, kChunkElements), first);
    }
    const std::lock_guard lock(mutex);
    total.add(partial);
  };
  run_in_threads(std::min(static_cast<std::size_t>(threads), n_chunks), work);
  return total;
}

}  // namespace

ArrayComparison compare_array(const kernels::PairOperands& operands, std::size_t n,
                              const kernels::Tolerance& tolerance, bool with_divergence,
                              int threads) {
  const kernels::DefaultFpEnvironment environment;
  const kernels::Tier& tier = active_tier();
  using kernels::PairDivergence;
  using kernels::PairOperands;
  using kernels::PairPartial;
  const auto compare = [&](PairPartial& partial, const PairOperands& at, std::size_t count,
                           std::size_t first) { partial.add(tier, tolerance, at, count, first); };
  ArrayComparison result;
  result.statistics =
      reduce<PairPartial>(operands, n, threads, compare).finish(operands.a, operands.b);
  if (!with_divergence || result.statistics.finite == 0) return result;
  const kernels::DivergenceRange range(result.statistics);
  const auto diverge = [&](PairDivergence& partial, const PairOperands& at, std::size_t count,
                           std::size_t) { partial.add(tier, range, at, count); };
  result.divergence = reduce<PairDivergence>(operands, n, threads, diverge).finish(tier);
  return result;
}

}  // namespace fastdump
