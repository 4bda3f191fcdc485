// The tiers that this build contains, and the one in use. Best first.
#pragma once

#include <span>
#include <string_view>

#include "kernels/block.hpp"

namespace fastdump::kernels {

struct TierChoice {
  const Tier* tier;
  bool usable;  // this CPU and operating system can run it
};

std::span<const TierChoice> compiled_tiers();

// The best usable tier. nullptr if `forced` names one that is not compiled or not usable; an empty
// `forced` forces nothing.
const Tier* choose_tier(std::string_view forced);

}  // namespace fastdump::kernels
