#include "core/concurrency/cpus.hpp"

#include <algorithm>
#include <thread>

#include "core/concurrency/cpu_quota.hpp"
#include "core/environment.hpp"

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

}  // namespace

int default_threads() {
  const auto threads = number_in_environment("FASTDUMP_THREADS", 1, kMaxThreads);
  if (threads) return static_cast<int>(*threads);
  // More threads than a quota has CPUs are stopped together, for the rest of each period.
  return std::min(usable_cpus(), cpu_quota().value_or(kMaxThreads));
}

std::optional<int> default_io_depth() {
  const auto depth = number_in_environment("FASTDUMP_IO_DEPTH", 1, kMaxThreads);
  return depth ? std::optional(static_cast<int>(*depth)) : std::nullopt;
}

}  // namespace fastdump
