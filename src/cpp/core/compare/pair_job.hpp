// One pass over two tensors that are too large for one piece of work: cut into chunks, which any
// thread may reduce.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include "core/compare/element_source.hpp"
#include "core/compare/pair_worker.hpp"
#include "core/stream/engine.hpp"

namespace fastdump {

class PairJob {
 public:
  // The first pass over the pair with this index. `n` of its elements lie in both files, others
  // are missing. `meter` learns from these files and outlives the job.
  PairJob(std::size_t pair, ElementSource a, ElementSource b, std::uint64_t n,
          const Missing& missing, Engine engine, EngineMeter& meter);
  // The second, after the first.
  PairJob(const PairJob& first, const kernels::DivergenceRange& range, EngineMeter& meter);

  struct Work {
    std::uint64_t nbytes = 0;  // of both sides; 0: no chunk was left
    bool last = false;         // all chunks are done now
  };
  // Reduces the next chunk. Any number of threads may call it.
  Work work(PairWorker& worker);

  std::size_t pair() const { return pair_; }
  const ElementSource& a() const { return a_; }
  const ElementSource& b() const { return b_; }
  bool is_second_pass() const { return range_.has_value(); }

  // After Work::last:
  const Missing& missing() const { return missing_; }
  const kernels::PairPartial& partial() const { return partial_; }
  const kernels::PairDivergence& divergence() const { return divergence_; }

 private:
  Missing reduce(PairWorker& worker, std::uint64_t first, std::size_t n);

  const std::size_t pair_;
  const ElementSource a_;
  const ElementSource b_;
  const std::uint64_t n_;
  const std::size_t chunk_elements_;
  const std::uint64_t n_chunks_;
  const std::optional<kernels::DivergenceRange> range_;
  Engine engine_;
  EngineMeter& shared_meter_;
  EngineMeter meter_;
  std::atomic<std::uint64_t> next_chunk_ = 0;
  std::mutex mutex_;
  std::uint64_t n_done_ = 0;  // chunks
  Missing missing_;
  kernels::PairPartial partial_;
  kernels::PairDivergence divergence_;
};

}  // namespace fastdump
