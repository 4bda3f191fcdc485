// How many threads there may be.
#pragma once

namespace fastdump {

inline constexpr int kMaxThreads = 4096;

// FASTDUMP_THREADS if it is set, else the CPUs that this process may use. Throws
// std::invalid_argument for a FASTDUMP_THREADS that is no number from 1 to kMaxThreads.
int default_threads();

}  // namespace fastdump
