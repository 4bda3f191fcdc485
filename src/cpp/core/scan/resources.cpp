#include "core/scan/resources.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include "core/formats/decimal.hpp"
#include "kernels/tiers.hpp"

#if defined(__linux__)
#include <sched.h>
#endif

namespace fastdump {
namespace {

int usable_cpus() {
#if defined(__linux__)
  // A container or taskset may allow fewer CPUs than the machine has.
  cpu_set_t* cpus = CPU_ALLOC(kMaxThreads);
  const std::size_t bytes = CPU_ALLOC_SIZE(kMaxThreads);
  CPU_ZERO_S(bytes, cpus);
  const int n = ::sched_getaffinity(0, bytes, cpus) == 0 ? CPU_COUNT_S(bytes, cpus) : 0;
  CPU_FREE(cpus);
  if (n > 0) return n;
#endif
  const unsigned n_hardware = std::thread::hardware_concurrency();
  return n_hardware == 0 ? 1 : static_cast<int>(n_hardware);
}

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

int default_threads() {
  const char* text = std::getenv("FASTDUMP_THREADS");
  if (text == nullptr || *text == '\0') return usable_cpus();
  const auto threads = parse_decimal(text);
  if (!threads || *threads < 1 || *threads > kMaxThreads) {
    throw std::invalid_argument("FASTDUMP_THREADS is \"" + std::string(text) +
                                "\"; it must be a number from 1 to " + std::to_string(kMaxThreads));
  }
  return static_cast<int>(*threads);
}

const kernels::Tier& active_tier() {
  static const kernels::Tier& tier = find_active_tier();
  return tier;
}

}  // namespace fastdump
