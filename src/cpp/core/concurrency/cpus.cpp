#include "core/concurrency/cpus.hpp"

#include <thread>

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
  return threads ? static_cast<int>(*threads) : usable_cpus();
}

}  // namespace fastdump
