#include "core/io/descriptors.hpp"

#include <dirent.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>

namespace fastdump {
namespace {

// Threads that hold descriptors for longer may be at huge files, or at nothing.
constexpr std::chrono::seconds kPatience{10};
constexpr std::chrono::milliseconds kBetweenLooks{1};

// What some of the threads have opened and closed: they count for every file, and would pass one
// cache line around between all cores.
struct alignas(64) Count {
  std::atomic<std::uint64_t> n_opened = 0;
  std::atomic<std::uint64_t> n_closed = 0;
};
std::array<Count, 64> counts;

Count& count_of_this_thread() {
  static std::atomic<std::size_t> n_threads = 0;
  thread_local Count& count = counts[n_threads.fetch_add(1) % counts.size()];
  return count;
}

std::uint64_t n_opened_descriptors() {
  std::uint64_t n = 0;
  for (const Count& count : counts) n += count.n_opened.load(std::memory_order_acquire);
  return n;
}

// For the directory that is listed and its mapping.csv, and for what Python opens meanwhile.
constexpr std::size_t kReserve = 4;

// Where the system does not tell how many descriptors are in use.
constexpr std::size_t kAssumedInUse = 32;

std::size_t n_in_use() {
  DIR* const directory = ::opendir("/proc/self/fd");
  if (directory == nullptr) return kAssumedInUse;
  std::size_t n = 0;
  while (::readdir(directory) != nullptr) ++n;
  ::closedir(directory);
  return n - std::min<std::size_t>(n, 3);  // ".", ".." and the directory itself
}

}  // namespace

std::size_t threads_with_descriptors(std::size_t n_threads, std::size_t n_for_each) {
  rlimit limit{};
  if (n_threads <= 1 || ::getrlimit(RLIMIT_NOFILE, &limit) != 0) return n_threads;
  if (limit.rlim_cur == RLIM_INFINITY) return n_threads;
  const std::size_t taken = n_in_use() + kReserve;
  const auto n_left = limit.rlim_cur > taken ? static_cast<std::size_t>(limit.rlim_cur) - taken : 0;
  return std::clamp<std::size_t>(n_left / n_for_each, 1, n_threads);
}

void count_opened_descriptor() {
  count_of_this_thread().n_opened.fetch_add(1, std::memory_order_release);
}

void count_closed_descriptor() {
  count_of_this_thread().n_closed.fetch_add(1, std::memory_order_release);
}

std::uint64_t n_closed_descriptors() {
  std::uint64_t n = 0;
  for (const Count& count : counts) n += count.n_closed.load(std::memory_order_acquire);
  return n;
}

bool wait_for_closed_descriptor(std::uint64_t n_closed_before) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    // Those opened are counted last: one that is open now is never taken for closed.
    const std::uint64_t n_closed = n_closed_descriptors();
    if (n_closed != n_closed_before) return true;
    if (n_opened_descriptors() == n_closed) return false;
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

}  // namespace fastdump
