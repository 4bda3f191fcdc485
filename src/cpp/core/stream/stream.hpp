// Tracks of elements, streamed in chunks by any number of threads: mapped or read as is faster,
// guarded against files that become shorter, in bounded memory. A job that uses a stream merges
// what its chunks give, and asks at the end whether the files stayed as they were.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/stream/chunk_cursor.hpp"
#include "core/stream/engine.hpp"
#include "core/stream/pieces.hpp"
#include "core/stream/stream_buffers.hpp"

namespace fastdump {

template <std::size_t N>
class Stream {
 public:
  using Chunk = ChunkCursor::Chunk;

  // Side i of every track lies in source i. Chunks have `chunk_nbytes` of the widest side, which is
  // a multiple of a block of every element type. `meter` learns from this stream and outlives it.
  Stream(Sources<N> sources, std::vector<Track<N>> tracks, Engine engine, EngineMeter& meter,
         std::uint64_t chunk_nbytes);

  std::uint64_t n_chunks() const { return cursor_.n_chunks(); }
  const Track<N>& track(std::size_t i) const { return tracks_[i]; }
  // Of all tracks and sides.
  std::uint64_t nbytes() const { return nbytes_; }

  // Any thread may take a chunk, and must then deliver it: empty if none is left.
  std::optional<Chunk> take() { return cursor_.take(); }
  // Hands the chunk's elements to the visitor, as many as there are, and tells how many are not.
  Shortages<N> deliver(const Chunk& chunk, StreamBuffers& buffers, PieceVisitor<N>& visitor);

 private:
  Engine choose_engine(Engine asked) const;
  Shortages<N> deliver_by(Engine engine, const Chunk& chunk, StreamBuffers& buffers,
                          PieceVisitor<N>& visitor);
  void drop(const ChunkCursor::Range& chunks);
  void drop_side(std::size_t side, const ChunkCursor::Range& chunks) const;

  const Sources<N> sources_;
  const std::vector<Track<N>> tracks_;
  const std::uint64_t nbytes_;
  const Engine engine_;
  EngineMeter& shared_meter_;
  EngineMeter meter_;
  ChunkCursor cursor_;
  std::atomic<double> drop_seconds_ = 0;  // of the last window, for each of its chunks
};

extern template class Stream<1>;
extern template class Stream<2>;

}  // namespace fastdump
