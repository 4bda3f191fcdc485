// Chunks: every element of every track is in one of them, and windows are done with when all of
// their chunks are, in whatever order.
#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "check.hpp"
#include "core/concurrency/thread_team.hpp"
#include "core/stream/chunk_cursor.hpp"

namespace fastdump {
namespace {

using Chunk = ChunkCursor::Chunk;

std::vector<Chunk> take_all(ChunkCursor& cursor) {
  std::vector<Chunk> chunks;
  while (const auto chunk = cursor.take()) chunks.push_back(*chunk);
  return chunks;
}

void check_chunk(const Chunk& chunk, std::size_t track, std::uint64_t first, std::uint64_t n) {
  CHECK_EQ(chunk.track, track);
  CHECK_EQ(chunk.first, first);
  CHECK_EQ(chunk.n, n);
}

void test_tracks() {
  ChunkCursor cursor;
  cursor.add_track(0, 8);
  cursor.add_track(20, 8);
  cursor.add_track(0, 8);
  cursor.add_track(0, 8);
  cursor.add_track(3, 16);
  cursor.add_track(0, 16);
  CHECK_EQ(cursor.n_chunks(), 4U);
  const std::vector<Chunk> chunks = take_all(cursor);
  CHECK_EQ(chunks.size(), 4U);
  check_chunk(chunks.at(0), 1, 0, 8);
  check_chunk(chunks.at(1), 1, 8, 8);
  check_chunk(chunks.at(2), 1, 16, 4);
  check_chunk(chunks.at(3), 4, 0, 3);
  for (std::size_t i = 0; i < chunks.size(); ++i) CHECK_EQ(chunks[i].index, i);
}

void test_no_track() {
  ChunkCursor cursor;
  CHECK_EQ(cursor.n_chunks(), 0U);
  CHECK(!cursor.take().has_value());
}

// The last window has fewer chunks.
void test_windows() {
  ChunkCursor cursor(4);
  cursor.add_track(10, 1);
  const std::vector<Chunk> chunks = take_all(cursor);
  const auto check_last_of = [&](std::size_t chunk, std::uint64_t first, std::uint64_t end) {
    const auto window = cursor.finish(chunks.at(chunk));
    CHECK(window.has_value());
    if (!window) return;
    CHECK_EQ(window->first, first);
    CHECK_EQ(window->end, end);
  };
  for (const std::size_t chunk : {5UL, 1UL, 9UL, 0UL, 7UL, 6UL, 3UL}) {
    CHECK(!cursor.finish(chunks.at(chunk)).has_value());
  }
  check_last_of(4, 4, 8);
  check_last_of(8, 8, 10);
  check_last_of(2, 0, 4);
}

void test_threads() {
  constexpr std::uint64_t kChunks = 10'000;
  ChunkCursor cursor(16);
  cursor.add_track(kChunks, 1);
  std::mutex mutex;
  std::vector<std::uint64_t> taken;
  std::uint64_t n_in_windows = 0;
  run_in_threads(4, [&] {
    while (const auto chunk = cursor.take()) {
      const auto window = cursor.finish(*chunk);
      const std::lock_guard lock(mutex);
      taken.push_back(chunk->index);
      if (window) n_in_windows += window->end - window->first;
    }
  });
  std::ranges::sort(taken);
  CHECK_EQ(taken.size(), kChunks);
  for (std::size_t i = 0; i < taken.size(); ++i) CHECK_EQ(taken[i], i);
  CHECK_EQ(n_in_windows, kChunks);
}

// A team has as many threads as it was told to grow to, and no more than it may have.
void test_team() {
  std::mutex mutex;
  std::size_t n_started = 0;
  ThreadTeam team(3, [&] {
    const std::lock_guard lock(mutex);
    ++n_started;
  });
  team.grow_to(2);
  team.grow_by(7, 9);
  team.grow_to(1);
  team.run();
  CHECK_EQ(n_started, 3U);
}

}  // namespace
}  // namespace fastdump

int main() {
  using namespace fastdump;
  test_tracks();
  test_no_track();
  test_windows();
  test_threads();
  test_team();
  return tests::exit_code();
}
