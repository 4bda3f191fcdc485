#include "core/compare/pair_pass.hpp"

#include <cerrno>
#include <new>
#include <utility>

namespace fastdump {

PairPass::PairPass(PairOfStrips pair, const std::optional<kernels::DivergenceRange>& range,
                   Engine engine, EngineMeter& meter, std::uint64_t chunk_nbytes)
    : pair_(std::move(pair)),
      range_(range),
      stream_(pair_.sources, {pair_.track}, engine, meter, chunk_nbytes),
      n_chunks_left_(stream_.n_chunks()) {}

Step PairPass::step(Thread& thread) {
  const auto chunk = stream_.take();
  if (!chunk) return {};
  thread.reducer.begin(pair_.a, pair_.b, range_);
  Shortages<2> missing;
  try {
    missing = stream_.deliver(*chunk, thread.buffers, thread.reducer);
  } catch (const std::bad_alloc&) {
    // A chunk that is not merged would be waited for.
    thread.reducer.begin_chunk();
    missing.fill({chunk->n, ENOMEM});
  }
  const std::lock_guard lock(mutex_);
  for (std::size_t side = 0; side < missing.size(); ++side) missing_[side].add(missing[side]);
  if (range_) {
    divergence_.add(thread.reducer.divergence());
  } else {
    partial_.add(thread.reducer.partial());
  }
  return {pair_.track.nbytes(chunk->n), --n_chunks_left_ == 0};
}

}  // namespace fastdump
