#include "core/arrays/compare_array.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

#include "core/active_tier.hpp"
#include "core/compare/pair_pass.hpp"
#include "core/concurrency/thread_team.hpp"
#include "core/errors.hpp"
#include "core/io/page_guard.hpp"
#include "core/size.hpp"
#include "core/stream/stream_sizes.hpp"
#include "kernels/fp_environment.hpp"

namespace fastdump {
namespace {

PairOfStrips to_strips(const kernels::PairOperands& operands, std::size_t n) {
  PairOfStrips pair = {operands.a, operands.b, {}, {}};
  const auto set_side = [&](std::size_t side, kernels::Element element, const std::byte* data) {
    const int bits = kernels::element_bits(element);
    const auto nbytes = static_cast<std::size_t>(packed_nbytes(n, bits));
    pair.sources[side] = std::make_shared<Source>(std::span(data, nbytes));
    pair.track.sides[side].bits = bits;
  };
  set_side(0, operands.a, operands.data_a);
  set_side(1, operands.b, operands.data_b);
  pair.track.n_elements = n;
  return pair;
}

void require_memory(const PairOfStrips& pair) {
  for (const auto& source : pair.sources) {
    if (source->check_state() != 0) throw FileChangedError(kLostMemory);
  }
}

void run_pass(PairPass& pass, const kernels::Tolerance& tolerance, std::uint64_t n_threads) {
  run_in_threads(std::min(n_threads, pass.n_chunks()), [&] {
    const kernels::DefaultFpEnvironment environment;
    PairPass::Thread thread(active_tier(), tolerance);
    while (pass.step(thread).nbytes != 0) {
    }
  });
}

}  // namespace

ArrayComparison compare_array(const kernels::PairOperands& operands, std::size_t n,
                              const kernels::Tolerance& tolerance, bool with_divergence,
                              int threads) {
  install_page_guard();
  const kernels::DefaultFpEnvironment environment;
  const PairOfStrips pair = to_strips(operands, n);
  const auto n_threads = static_cast<std::uint64_t>(threads);
  const std::uint64_t chunk_nbytes = array_chunk_nbytes(pair.track.nbytes(n) / 2, n_threads);
  EngineMeter meter;
  ArrayComparison result;
  PairPass first(pair, std::nullopt, Engine::automatic, meter, chunk_nbytes);
  run_pass(first, tolerance, n_threads);
  require_memory(pair);
  result.statistics = first.partial().finish(operands.a, operands.b);
  if (!with_divergence || result.statistics.finite == 0) return result;
  const kernels::DivergenceRange range(result.statistics);
  PairPass second(pair, range, Engine::automatic, meter, chunk_nbytes);
  run_pass(second, tolerance, n_threads);
  require_memory(pair);
  result.divergence = second.divergence().finish(active_tier());
  return result;
}

}  // namespace fastdump
