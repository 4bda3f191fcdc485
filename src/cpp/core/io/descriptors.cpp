#include "core/io/descriptors.hpp"

#include <dirent.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace fastdump {
namespace {

// Threads that hold descriptors for longer may be at huge files, or at nothing.
constexpr std::chrono::seconds kPatience{10};
// An end of waiting that was missed, for nobody takes the lock to close, costs no more than this.
constexpr std::chrono::milliseconds kLongestSleep{20};

// All threads write the first two for every file, and read the third, which hardly ever changes.
alignas(64) std::atomic<std::uint64_t> n_opened = 0;
alignas(64) std::atomic<std::uint64_t> n_closed = 0;
alignas(64) std::atomic<int> n_waiting = 0;
std::mutex mutex;
std::condition_variable closed;

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

void count_opened_descriptor() { n_opened.fetch_add(1, std::memory_order_relaxed); }

void count_closed_descriptor() {
  n_closed.fetch_add(1, std::memory_order_release);
  if (n_waiting.load(std::memory_order_relaxed) != 0) closed.notify_one();
}

std::uint64_t n_closed_descriptors() { return n_closed.load(std::memory_order_acquire); }

bool wait_for_closed_descriptor(std::uint64_t n_closed_before) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  std::unique_lock lock(mutex);
  n_waiting.fetch_add(1);
  bool has_closed = false;
  for (;;) {
    const std::uint64_t n = n_closed_descriptors();
    has_closed = n != n_closed_before;
    const bool holds_any = n_opened.load() != n;
    if (has_closed || !holds_any || std::chrono::steady_clock::now() > end) break;
    closed.wait_for(lock, kLongestSleep);
  }
  n_waiting.fetch_sub(1);
  return has_closed;
}

}  // namespace fastdump
