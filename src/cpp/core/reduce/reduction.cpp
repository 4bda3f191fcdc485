#include "core/reduce/reduction.hpp"

#include <cerrno>
#include <new>
#include <utility>

namespace fastdump {
namespace {

std::vector<Track<1>> to_tracks(std::vector<ReducedTensor>& tensors) {
  std::vector<Track<1>> tracks;
  tracks.reserve(tensors.size());
  for (ReducedTensor& tensor : tensors) {
    const int bits = kernels::element_bits(tensor.element);
    tracks.push_back({{Strip{tensor.offset, bits, std::move(tensor.gathered)}}, tensor.n_elements});
  }
  return tracks;
}

}  // namespace

Reduction::Reduction(std::shared_ptr<Source> source, std::vector<ReducedTensor> tensors,
                     Engine engine, EngineMeter& meter, std::uint64_t chunk_nbytes)
    : stream_({std::move(source)}, to_tracks(tensors), engine, meter, chunk_nbytes),
      n_chunks_left_(stream_.n_chunks()) {
  states_.reserve(tensors.size());
  for (const ReducedTensor& tensor : tensors) {
    states_.push_back({tensor.element, tensor.n_elements, nullptr, {}});
  }
}

Step Reduction::step(Thread& thread) {
  const auto chunk = stream_.take();
  if (!chunk) return {};
  thread.reducer.begin(states_[chunk->track].element);
  Shortages<1> missing;
  try {
    missing = stream_.deliver(*chunk, thread.buffers, thread.reducer);
  } catch (const std::bad_alloc&) {
    thread.reducer.begin_chunk();
    missing[0] = {chunk->n, ENOMEM};
  }
  const bool is_last = merge(*chunk, thread.reducer, missing[0]);
  return {stream_.track(chunk->track).nbytes(chunk->n), is_last};
}

// True for the last of all chunks. Never throws: a chunk that is not merged would be waited for.
bool Reduction::merge(const Stream<1>::Chunk& chunk, const TensorReducer& reducer,
                      const Shortage& missing) {
  const std::lock_guard lock(mutex_);
  State& state = states_[chunk.track];
  state.result.missing.add(missing);
  state.n_left -= chunk.n;
  if (state.total == nullptr && state.n_left == 0) {
    state.result.statistics = reducer.finish();
  } else {
    if (state.total == nullptr) state.total.reset(new (std::nothrow) kernels::Partial);
    if (state.total == nullptr) {
      state.result.missing.add({chunk.n - missing.n, ENOMEM});
    } else {
      state.total->add(reducer.partial(), state.element);
    }
    if (state.n_left == 0 && state.total != nullptr) {
      state.result.statistics = state.total->finish(reducer.level(), state.element);
      state.total.reset();
    }
  }
  return --n_chunks_left_ == 0;
}

}  // namespace fastdump
