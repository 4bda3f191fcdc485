#include "core/scan/resources.hpp"

#include <cstdint>
#include <cstdlib>
#include <optional>
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

// nullopt if the variable is not set, or empty.
std::optional<std::int64_t> number_in_environment(const char* name, std::int64_t least,
                                                  std::int64_t most) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return std::nullopt;
  const auto number = parse_decimal(text);
  if (number && *number >= least && *number <= most) return number;
  throw std::invalid_argument(std::string(name) + " is \"" + text +
                              "\"; it must be a number from " + std::to_string(least) + " to " +
                              std::to_string(most));
}

StreamSizes find_stream_sizes() {
  StreamSizes sizes;
  if (const auto mib = number_in_environment("FASTDUMP_CHUNK_MIB", 1, 1 << 10)) {
    sizes.chunk_nbytes = static_cast<std::uint64_t>(*mib) << 20;
  }
  if (const auto mib = number_in_environment("FASTDUMP_MMAP_MIB", 0, 1 << 20)) {
    sizes.min_mapped_nbytes = static_cast<std::uint64_t>(*mib) << 20;
  }
  return sizes;
}

}  // namespace

int default_threads() {
  const auto threads = number_in_environment("FASTDUMP_THREADS", 1, kMaxThreads);
  return threads ? static_cast<int>(*threads) : usable_cpus();
}

const StreamSizes& stream_sizes() {
  static const StreamSizes sizes = find_stream_sizes();
  return sizes;
}

const kernels::Tier& active_tier() {
  static const kernels::Tier& tier = find_active_tier();
  return tier;
}

}  // namespace fastdump
