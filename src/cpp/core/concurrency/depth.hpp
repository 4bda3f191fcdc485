// How many threads are at work at a time: as many as there are CPUs for, and more of them while
// these are found blocked, so that storage that is far away has as many requests as it wants.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>

#include "core/concurrency/cpus.hpp"
#include "core/concurrency/thread_time.hpp"

namespace fastdump {

// As many reads may be under way if nobody says otherwise.
inline constexpr std::size_t kMaxMeasuredDepth = 64;

class Depth {
 public:
  // There are never more than `most` threads.
  Depth(const Parallelism& asked, std::size_t most);

  // The most threads that what is asked for allows.
  static std::size_t most(const Parallelism& asked);
  // How many there may be now.
  std::size_t n_threads() const { return n_threads_.load(std::memory_order_relaxed); }

  // Whether there are more threads than CPUs, because some wait for storage.
  bool has_more_than_cpus() const { return n_threads() > least_; }

  // Whether it stays as it is, whatever is recorded.
  bool is_fixed() const { return least_ == most_; }

  // Time that one of the threads has spent. Returns whether n_threads() has changed.
  bool record(const ThreadTime& time);

 private:
  const std::size_t most_;
  const std::size_t least_;
  std::atomic<std::size_t> n_threads_;
  std::mutex mutex_;
  ThreadTime window_;  // of all threads, since n_threads_ was decided last
};

}  // namespace fastdump
