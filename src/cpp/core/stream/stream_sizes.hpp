// The sizes in which bytes are streamed. docs/performance.md tells what the defaults were chosen
// by.
#pragma once

#include <cstdint>

namespace fastdump {

struct StreamSizes {
  // A thread takes so much at a time: little enough that all threads end together, and two huge
  // pages of a mapping. A multiple of a block of every element type.
  std::uint64_t chunk_nbytes = std::uint64_t{4} << 20;
  // Setting a mapping up and tearing it down costs more than it can gain for less than this.
  std::uint64_t min_mapped_nbytes = std::uint64_t{8} << 20;
};

// The defaults, or what FASTDUMP_CHUNK_MIB and FASTDUMP_MMAP_MIB said at the first call. Throws
// std::invalid_argument if they are no numbers of MiB that make sense.
const StreamSizes& stream_sizes();

// How much of an array in memory a thread takes at a time: several chunks a thread, so that all end
// together, each more work than starting a thread. A multiple of a block of every element type.
std::uint64_t array_chunk_nbytes(std::uint64_t nbytes, std::uint64_t n_threads);

}  // namespace fastdump
