#include "core/active_tier.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "kernels/tiers.hpp"

namespace fastdump {
namespace {

const kernels::Tier& find_active_tier() {
  const char* forced = std::getenv("FASTDUMP_SIMD");
  const std::string name = forced == nullptr ? "" : forced;
  const kernels::Tier* tier = kernels::choose_tier(name);
  if (tier != nullptr) return *tier;
  std::string usable;
  for (const auto& choice : kernels::compiled_tiers()) {
    if (!choice.usable) continue;
    if (!usable.empty()) usable += ", ";
    usable += choice.tier->name;
  }
  throw std::invalid_argument("FASTDUMP_SIMD is \"" + name +
                              "\"; this CPU and build can run: " + usable);
}

}  // namespace

const kernels::Tier& active_tier() {
  static const kernels::Tier& tier = find_active_tier();
  return tier;
}

}  // namespace fastdump
