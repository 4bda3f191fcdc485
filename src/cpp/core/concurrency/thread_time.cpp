#include "core/concurrency/thread_time.hpp"

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <chrono>

namespace fastdump {
namespace {

std::int64_t wall_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

#if defined(RUSAGE_THREAD)
std::int64_t nanoseconds(const timeval& time) {
  return (static_cast<std::int64_t>(time.tv_sec) * 1'000'000 + time.tv_usec) * 1000;
}
#endif

}  // namespace

ThreadStopwatch::Reading ThreadStopwatch::read() {
  Reading reading;
#if defined(RUSAGE_THREAD)
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  reading.cpu_ns = nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime);
  reading.n_blocked = usage.ru_nvcsw;
  reading.n_preempted = usage.ru_nivcsw;
#else
  struct timespec time = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  reading.cpu_ns = static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
#endif
  reading.wall_ns = wall_ns();
  return reading;
}

void ThreadStopwatch::restart() { start_ = read(); }

std::int64_t ThreadStopwatch::elapsed_ns() const { return wall_ns() - start_.wall_ns; }

ThreadTime ThreadStopwatch::take() {
  const Reading start = start_;
  restart();
  const std::int64_t busy = std::max<std::int64_t>(start_.cpu_ns - start.cpu_ns, 0);
  const std::int64_t rest = std::max<std::int64_t>(start_.wall_ns - start.wall_ns - busy, 0);
#if defined(RUSAGE_THREAD)
  const auto n_blocked = static_cast<double>(start_.n_blocked - start.n_blocked);
  const auto n_preempted = static_cast<double>(start_.n_preempted - start.n_preempted);
  if (n_blocked == 0) return {busy, 0};
  const double share = n_blocked / (n_blocked + n_preempted);
  return {busy, static_cast<std::int64_t>(static_cast<double>(rest) * share)};
#else
  return {busy, rest};  // who took the CPU away is not told
#endif
}

}  // namespace fastdump
