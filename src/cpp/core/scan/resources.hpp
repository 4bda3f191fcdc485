// What a scan runs on: its threads and its instruction-set tier.

#include "kernels/block.hpp"

namespace fastdump {

// FASTDUMP_THREADS if it is set, else the CPUs that this process may use. Throws
// std::invalid_argument for a FASTDUMP_THREADS that is no number from 1 to kMaxThreads.
int default_threads();
inline constexpr int kMaxThreads = 4096;

// The tier in use: the best, or the one that FASTDUMP_SIMD names. Throws std::invalid_argument if
// that one is unknown or this CPU lacks it.
const kernels::Tier& active_tier();

}  // namespace fastdump
