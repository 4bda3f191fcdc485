#include "core/active_tier.hpp"

#include <atomic>
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
  // All threads find the same. There is no lock, which a child that was forked meanwhile could wait
  // for in vain.
  static std::atomic<const kernels::Tier*> found = nullptr;
  const kernels::Tier* tier = found.load(std::memory_order_acquire);
  if (tier == nullptr) {
    tier = &find_active_tier();
    found.store(tier, std::memory_order_release);
  }
  return *tier;
}

}  // namespace fastdump
