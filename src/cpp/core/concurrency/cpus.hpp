// How much may be done at a time.
#pragma once

#include <optional>

namespace fastdump {

inline constexpr int kMaxThreads = 4096;

// FASTDUMP_THREADS if it is set, else the CPUs that this process may use:
// those that it may run on, or as many as its control group grants. Throws
// std::invalid_argument for a FASTDUMP_THREADS that is no number from 1 to kMaxThreads.
int default_threads();

// FASTDUMP_IO_DEPTH; empty if it is not set. Throws as default_threads() does.
std::optional<int> default_io_depth();

struct Parallelism {
  int threads = 1;              // CPUs that may be busy
  std::optional<int> io_depth;  // reads that may be under way; empty: as many as pays
};

inline Parallelism default_parallelism() { return {default_threads(), default_io_depth()}; }

}  // namespace fastdump
