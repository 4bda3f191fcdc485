// The instruction-set tier whose kernels this process uses.
#pragma once

#include "kernels/block.hpp"

namespace fastdump {

// The best tier of this CPU and build, or the one that FASTDUMP_SIMD names. Throws
// std::invalid_argument if that one is unknown or this CPU lacks it.
const kernels::Tier& active_tier();

}  // namespace fastdump
