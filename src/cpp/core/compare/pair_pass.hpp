// One pass over two tensors, by any number of threads that take its chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include "core/compare/pair_reducer.hpp"
#include "core/concurrency/step.hpp"
#include "core/stream/stream.hpp"

namespace fastdump {

// Two tensors by where their elements lie: so many pairs, of these types.
struct PairOfStrips {
  kernels::Element a = kernels::Element::none;
  kernels::Element b = kernels::Element::none;
  Sources<2> sources;
  Track<2> track;
};

class PairPass {
 public:
  // What one thread keeps between steps.
  struct Thread {
    Thread(const kernels::Tier& tier, const kernels::Tolerance& tolerance)
        : reducer(tier, tolerance) {}

    StreamBuffers buffers;
    PairReducer reducer;
  };

  // The first pass, or the second if there is a range, which the first has found. `meter` learns
  // from these sources and outlives the pass.
  PairPass(PairOfStrips pair, const std::optional<kernels::DivergenceRange>& range, Engine engine,
           EngineMeter& meter, std::uint64_t chunk_nbytes);

  const PairOfStrips& pair() const { return pair_; }
  bool is_second() const { return range_.has_value(); }
  std::uint64_t n_chunks() const { return stream_.n_chunks(); }
  // Reduces the next chunk.
  Step step(Thread& thread);

  // After the last step:
  const Shortages<2>& missing() const { return missing_; }
  const kernels::PairPartial& partial() const { return partial_; }
  const kernels::PairDivergence& divergence() const { return divergence_; }

 private:
  const PairOfStrips pair_;
  const std::optional<kernels::DivergenceRange> range_;
  Stream<2> stream_;
  std::mutex mutex_;
  std::uint64_t n_chunks_left_;
  Shortages<2> missing_;
  kernels::PairPartial partial_;
  kernels::PairDivergence divergence_;
};

}  // namespace fastdump
