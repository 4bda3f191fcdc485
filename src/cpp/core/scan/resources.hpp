// What a scan runs on: its threads, its instruction-set tier, and the sizes in which it takes large
// files. docs/performance.md tells what the defaults were chosen by.
#pragma once

#include <cstdint>

#include "kernels/block.hpp"

namespace fastdump {

// FASTDUMP_THREADS if it is set, else the CPUs that this process may use. Throws
// std::invalid_argument for a FASTDUMP_THREADS that is no number from 1 to kMaxThreads.
int default_threads();
inline constexpr int kMaxThreads = 4096;

// The tier in use: the best, or the one that FASTDUMP_SIMD names. Throws std::invalid_argument if
// that one is unknown or this CPU lacks it.
const kernels::Tier& active_tier();

struct StreamSizes {
  // Threads take so much at a time: little enough that all end together, and two huge pages of a
  // mapping. A multiple of a block of every element type.
  std::uint64_t chunk_nbytes = std::uint64_t{4} << 20;
  // Below this a mapping's set-up and tear-down cost more than they can gain.
  std::uint64_t min_mapped_nbytes = std::uint64_t{8} << 20;
};

// The defaults, or what FASTDUMP_CHUNK_MIB and FASTDUMP_MMAP_MIB say when it is called first.
// Throws std::invalid_argument if they are no numbers of MiB that make sense.
const StreamSizes& stream_sizes();

}  // namespace fastdump
