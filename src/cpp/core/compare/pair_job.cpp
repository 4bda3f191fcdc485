#include "core/compare/pair_job.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/io/page_guard.hpp"

namespace fastdump {
namespace {

// Of the larger side. Some 0.5 ms of work: little enough that all threads end together, and two
// huge pages of a mapping.
constexpr std::size_t kChunkBytes = std::size_t{4} << 20;

// Below this mappings cost more to set up and tear down than they can gain.
constexpr std::uint64_t kMinMappedBytes = std::uint64_t{8} << 20;

using Clock = std::chrono::steady_clock;

std::size_t chunk_elements(const ElementSource& a, const ElementSource& b) {
  const int bits = std::max(kernels::element_bits(a.element()), kernels::element_bits(b.element()));
  return kChunkBytes * 8 / static_cast<std::size_t>(bits);
}

}  // namespace

PairJob::PairJob(std::size_t pair, ElementSource a, ElementSource b, std::uint64_t n,
                 const Missing& missing, Engine engine, EngineMeter& meter)
    : pair_(pair),
      a_(std::move(a)),
      b_(std::move(b)),
      n_(n),
      chunk_elements_(chunk_elements(a_, b_)),
      n_chunks_((n + chunk_elements_ - 1) / chunk_elements_),
      engine_(engine),
      shared_meter_(meter),
      meter_(meter),
      missing_(missing) {
  const bool is_small = a_.nbytes(n) + b_.nbytes(n) < kMinMappedBytes;
  if (engine_ == Engine::automatic && (is_small || a_.on_network() || b_.on_network())) {
    engine_ = Engine::read;
  }
  if (a_.is_gathered() || b_.is_gathered()) engine_ = Engine::read;
  if (engine_ != Engine::read) install_page_guard();
}

PairJob::PairJob(const PairJob& first, const kernels::DivergenceRange& range, EngineMeter& meter)
    : pair_(first.pair_),
      a_(first.a_),
      b_(first.b_),
      n_(first.n_),
      chunk_elements_(first.chunk_elements_),
      n_chunks_(first.n_chunks_),
      range_(range),
      engine_(first.engine_),
      shared_meter_(meter),
      meter_(first.meter_) {}

PairJob::Work PairJob::work(PairWorker& worker) {
  const std::uint64_t index = next_chunk_.fetch_add(1);
  if (index >= n_chunks_) return {};
  const std::uint64_t first = index * chunk_elements_;
  const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(n_ - first, chunk_elements_));
  const Missing missing = reduce(worker, first, n);
  const std::lock_guard lock(mutex_);
  missing_.add(missing);
  if (range_) {
    divergence_.add(worker.divergence());
  } else {
    partial_.add(worker.partial());
  }
  const bool last = ++n_done_ == n_chunks_;
  if (last) {
    a_.release();
    b_.release();
  }
  return {a_.nbytes(n) + b_.nbytes(n), last};
}

Missing PairJob::reduce(PairWorker& worker, std::uint64_t first, std::size_t n) {
  const Engine engine = engine_ == Engine::automatic ? meter_.choose() : engine_;
  const auto start = Clock::now();
  Missing missing;
  worker.begin(range_);
  if (engine != Engine::mmap || !worker.reduce_mapped(a_, b_, first, n)) {
    worker.begin(range_);
    missing = worker.reduce_read(a_, b_, first, n);
  }
  if (engine_ == Engine::automatic) {
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const std::size_t nbytes = a_.nbytes(n) + b_.nbytes(n);
    meter_.record(engine, nbytes, seconds);
    shared_meter_.record(engine, nbytes, seconds);
  }
  return missing;
}

}  // namespace fastdump
