// Elements cut into chunks, which any thread may take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace fastdump {

class ChunkCursor {
 public:
  struct Chunk {
    std::uint64_t index = 0;  // of all chunks
    std::size_t track = 0;    // in the order of add_track()
    std::uint64_t first = 0;  // element of the track
    std::uint64_t n = 0;      // elements
  };

  // Chunks [first, end).
  struct Range {
    std::uint64_t first = 0;
    std::uint64_t end = 0;
  };

  // Chunks of a window are done with together: finish() tells when all of one are. Memory does not
  // grow with their number, but with that of the threads.
  explicit ChunkCursor(std::uint64_t chunks_in_window = 1) : chunks_in_window_(chunks_in_window) {}

  // Before the first chunk is taken.
  void add_track(std::uint64_t n_elements, std::uint64_t chunk_elements);

  std::uint64_t n_chunks() const { return n_chunks_; }
  Chunk at(std::uint64_t index) const;

  // Chunks come in order. Empty if none is left. Any thread may call it.
  std::optional<Chunk> take();
  // Nobody needs the chunk any more. Gives the window's chunks if it was the last of a window.
  std::optional<Range> finish(const Chunk& chunk);

 private:
  struct Track {
    std::uint64_t first_chunk;
    std::uint64_t n_elements;
    std::uint64_t chunk_elements;
  };
  // A window of which a chunk was taken, but not all are finished.
  struct OpenWindow {
    std::uint64_t index;
    std::uint64_t n_left;  // chunks
  };

  Range window(std::uint64_t index) const;

  const std::uint64_t chunks_in_window_;
  std::vector<Track> tracks_;
  std::uint64_t n_chunks_ = 0;
  std::mutex mutex_;
  std::uint64_t n_taken_ = 0;
  std::vector<OpenWindow> open_windows_;
};

}  // namespace fastdump
