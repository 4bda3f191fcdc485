#include "core/stream/stream.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/stream/stream_sizes.hpp"

namespace fastdump {
namespace {

using Clock = std::chrono::steady_clock;

// Mapped pages that were visited are let go so many at a time: it interrupts other CPUs each time.
constexpr std::uint64_t kWindowBytes = std::uint64_t{16} << 20;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

template <std::size_t N>
std::uint64_t nbytes_of(const std::vector<Track<N>>& tracks) {
  std::uint64_t sum = 0;
  for (const Track<N>& track : tracks) sum = add(sum, track.nbytes(track.n_elements));
  return sum;
}

}  // namespace

template <std::size_t N>
Stream<N>::Stream(Sources<N> sources, std::vector<Track<N>> tracks, Engine engine,
                  EngineMeter& meter, std::uint64_t chunk_nbytes)
    : sources_(std::move(sources)),
      tracks_(std::move(tracks)),
      nbytes_(nbytes_of(tracks_)),
      engine_(choose_engine(engine)),
      shared_meter_(meter),
      meter_(meter),
      cursor_(std::max<std::uint64_t>(kWindowBytes / chunk_nbytes, 1)) {
  for (const Track<N>& track : tracks_) {
    cursor_.add_track(track.n_elements,
                      chunk_nbytes * 8 / static_cast<std::uint64_t>(track.max_bits()));
  }
}

template <std::size_t N>
Engine Stream<N>::choose_engine(Engine asked) const {
  const auto any_source = [this](bool (Source::*is)() const) {
    return std::ranges::any_of(sources_, [&](const auto& source) { return (*source.*is)(); });
  };
  if (any_source(&Source::is_memory)) return Engine::mmap;  // its bytes are there to be viewed
  if (asked != Engine::automatic) return asked;
  if (nbytes_ < stream_sizes().min_mapped_nbytes || any_source(&Source::is_on_network)) {
    return Engine::read;
  }
  return Engine::automatic;
}

template <std::size_t N>
Shortages<N> Stream<N>::deliver(const Chunk& chunk, StreamBuffers& buffers,
                                PieceVisitor<N>& visitor) {
  const Track<N>& track = tracks_[chunk.track];
  if (track.is_gathered() || engine_ != Engine::automatic) {
    const Engine engine = track.is_gathered() ? Engine::read : engine_;
    const Shortages<N> missing = deliver_by(engine, chunk, buffers, visitor);
    if (const auto window = cursor_.finish(chunk)) drop(*window);
    return missing;
  }
  const Engine engine = shared_meter_.reads_only() ? Engine::read : meter_.choose();
  const auto start = Clock::now();
  const Shortages<N> missing = deliver_by(engine, chunk, buffers, visitor);
  double seconds = seconds_since(start);
  if (const auto window = cursor_.finish(chunk)) drop(*window);
  // A mapping has to be charged for the pages that it will have to let go.
  if (engine == Engine::mmap) seconds += drop_seconds_.load();
  const auto nbytes = static_cast<std::size_t>(track.nbytes(chunk.n));
  meter_.record(engine, nbytes, seconds);
  shared_meter_.record(engine, nbytes, seconds);
  return missing;
}

template <std::size_t N>
Shortages<N> Stream<N>::deliver_by(Engine engine, const Chunk& chunk, StreamBuffers& buffers,
                                   PieceVisitor<N>& visitor) {
  const Track<N>& track = tracks_[chunk.track];
  visitor.begin_chunk();
  if (engine == Engine::mmap) {
    if (view_pieces(sources_, track, chunk.first, chunk.n, visitor)) return {};
    visitor.begin_chunk();
  }
  return read_pieces(sources_, track, chunk.first, chunk.n, buffers, visitor);
}

template <std::size_t N>
void Stream<N>::drop(const ChunkCursor::Range& chunks) {
  const bool is_any_mapped =
      std::ranges::any_of(sources_, [](const auto& source) { return source->is_mapped(); });
  if (!is_any_mapped) return;
  const auto start = Clock::now();
  for (std::size_t side = 0; side < N; ++side) drop_side(side, chunks);
  drop_seconds_ = seconds_since(start) / static_cast<double>(chunks.end - chunks.first);
}

// Lets go of chunks that lie behind each other in one call. Gathered elements lie anywhere in their
// tensor: its pages go with its last chunk.
template <std::size_t N>
void Stream<N>::drop_side(std::size_t side, const ChunkCursor::Range& chunks) const {
  std::uint64_t offset = 0;
  std::uint64_t nbytes = 0;
  for (std::uint64_t i = chunks.first; i < chunks.end; ++i) {
    const Chunk chunk = cursor_.at(i);
    const Strip& strip = tracks_[chunk.track].sides[side];
    if (strip.gathered != nullptr) {
      const bool is_last = chunk.first + chunk.n == tracks_[chunk.track].n_elements;
      if (is_last) drop_gathered(*sources_[side], strip);
      continue;
    }
    if (strip.offset_of(chunk.first) != offset + nbytes) {
      if (nbytes != 0) sources_[side]->drop(offset, nbytes);
      offset = strip.offset_of(chunk.first);
      nbytes = 0;
    }
    nbytes += strip.nbytes(chunk.n);
  }
  if (nbytes != 0) sources_[side]->drop(offset, nbytes);
}

template class Stream<1>;
template class Stream<2>;

}  // namespace fastdump
