#include "core/stream/chunk_cursor.hpp"

#include <algorithm>
#include <iterator>

#include "core/size.hpp"

namespace fastdump {

void ChunkCursor::add_track(std::uint64_t n_elements, std::uint64_t chunk_elements) {
  tracks_.push_back({n_chunks_, n_elements, chunk_elements});
  n_chunks_ += divide_up(n_elements, chunk_elements);
}

ChunkCursor::Chunk ChunkCursor::at(std::uint64_t index) const {
  // Tracks without elements have the place of the next one: the last of them is meant.
  const auto after = std::ranges::upper_bound(tracks_, index, {}, &Track::first_chunk);
  const auto track = std::prev(after);
  const std::uint64_t first = (index - track->first_chunk) * track->chunk_elements;
  return {index, static_cast<std::size_t>(track - tracks_.begin()), first,
          std::min(track->n_elements - first, track->chunk_elements)};
}

std::optional<ChunkCursor::Chunk> ChunkCursor::take() {
  std::uint64_t index = 0;
  {
    const std::lock_guard lock(mutex_);
    if (n_taken_ == n_chunks_) return std::nullopt;
    index = n_taken_++;
    if (index % chunks_in_window_ == 0) {
      const Range range = window(index / chunks_in_window_);
      open_windows_.push_back({index / chunks_in_window_, range.end - range.first});
    }
  }
  return at(index);
}

std::optional<ChunkCursor::Range> ChunkCursor::finish(const Chunk& chunk) {
  const std::uint64_t index = chunk.index / chunks_in_window_;
  const std::lock_guard lock(mutex_);
  const auto open = std::ranges::find(open_windows_, index, &OpenWindow::index);
  if (--open->n_left != 0) return std::nullopt;
  open_windows_.erase(open);
  return window(index);
}

ChunkCursor::Range ChunkCursor::window(std::uint64_t index) const {
  const std::uint64_t first = index * chunks_in_window_;
  return {first, std::min(first + chunks_in_window_, n_chunks_)};
}

}  // namespace fastdump
