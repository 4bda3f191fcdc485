#include "core/concurrency/thread_team.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "core/concurrency/thread_start.hpp"

namespace fastdump {

void ThreadTeam::grow_to(std::size_t n) {
  const std::lock_guard lock(mutex_);
  grow(n);
}

void ThreadTeam::grow_by(std::size_t n) {
  const std::lock_guard lock(mutex_);
  grow(threads_.size() + 1 + n);
}

void ThreadTeam::grow(std::size_t n_threads) {
  n_threads = std::min(n_threads, max_threads_);
  try {
    if (n_threads > 0) threads_.reserve(n_threads - 1);  // a thread that runs needs its place
    while (threads_.size() + 1 < n_threads) threads_.push_back(start_thread(work_));
  } catch (...) {
    // No thread, or no memory for one: those that there are do the work.
  }
}

// A thread that is waited for may start others before it ends: they are waited for, too.
void ThreadTeam::join() {
  for (std::size_t i = 0;; ++i) {
    std::thread thread;
    {
      const std::lock_guard lock(mutex_);
      if (i == threads_.size()) break;
      thread = std::move(threads_[i]);
    }
    if (thread.joinable()) thread.join();
  }
}

void run_in_threads(std::size_t n, const std::function<void()>& work) {
  std::mutex mutex;
  std::exception_ptr failure;
  ThreadTeam team(n, [&] {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (failure == nullptr) failure = std::current_exception();
    }
  });
  team.grow_to(n);
  team.run();
  if (failure != nullptr) std::rethrow_exception(failure);
}

}  // namespace fastdump
