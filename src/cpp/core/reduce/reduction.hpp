// Statistics of tensors that lie in one source, by any number of threads that take its chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/concurrency/step.hpp"
#include "core/reduce/tensor_reducer.hpp"
#include "core/stream/stream.hpp"
#include "kernels/partial.hpp"

namespace fastdump {

struct ReducedTensor {
  kernels::Element element = kernels::Element::none;
  std::uint64_t offset = 0;      // in the source
  std::uint64_t n_elements = 0;  // that are reduced
  // The logical elements, if these are not all that is stored in the order in which it is.
  std::shared_ptr<const LogicalElements> gathered = nullptr;
};

class Reduction {
 public:
  // What one thread keeps between steps.
  struct Thread {
    Thread(const kernels::Tier& tier, kernels::Level level) : reducer(tier, level) {}

    StreamBuffers buffers;
    TensorReducer reducer;
  };

  // What became of a tensor. Its statistics are of the elements that were there.
  struct Result {
    std::optional<kernels::Statistics> statistics;
    Shortage missing;
  };

  // `meter` learns from this source and outlives the reduction.
  Reduction(std::shared_ptr<Source> source, std::vector<ReducedTensor> tensors, Engine engine,
            EngineMeter& meter, std::uint64_t chunk_nbytes);

  // 0: there is nothing to reduce, and no step that is the last.
  std::uint64_t n_chunks() const { return stream_.n_chunks(); }
  std::uint64_t nbytes() const { return stream_.nbytes(); }
  // Reduces the next chunk.
  Step step(Thread& thread);

  // After the last step: of each tensor, in their order. Without statistics if it has no element.
  const Result& result(std::size_t tensor) const { return states_[tensor].result; }

 private:
  struct State {
    kernels::Element element;
    // The rest under mutex_.
    std::uint64_t n_left;                     // elements that no chunk has been about
    std::unique_ptr<kernels::Partial> total;  // of the chunks that are done, if there are several
    Result result;
  };

  bool merge(const Stream<1>::Chunk& chunk, const TensorReducer& reducer, const Shortage& missing);

  Stream<1> stream_;
  std::mutex mutex_;
  std::vector<State> states_;
  std::uint64_t n_chunks_left_;
};

}  // namespace fastdump
