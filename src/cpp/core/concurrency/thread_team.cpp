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

void ThreadTeam::grow_by(std::size_t n, std::size_t most) {
  const std::lock_guard lock(mutex_);
  grow(std::min(n_threads_ + n, most));
}

void ThreadTeam::grow(std::size_t n_threads) {
  n_threads = std::min(n_threads, max_threads_);
  if (n_threads <= n_threads_) return;
  join_left();
  try {
    // A thread that runs needs its place.
    threads_.reserve(threads_.size() + n_threads - n_threads_);
    for (; n_threads_ < n_threads; ++n_threads_) threads_.push_back(start_thread(work_));
  } catch (...) {
    // No thread, or no memory for one: those that there are do the work.
  }
}

bool ThreadTeam::leaves(std::size_t n) {
  if (n_threads_.load(std::memory_order_relaxed) <= n) return false;
  const std::lock_guard lock(mutex_);
  if (n_threads_ <= n) return false;
  left_.push_back(std::this_thread::get_id());
  --n_threads_;
  return true;
}

// Their stacks are to be used again.
void ThreadTeam::join_left() {
  for (const std::thread::id id : left_) {
    const auto thread = std::ranges::find(threads_, id, &std::thread::get_id);
    if (thread == threads_.end()) continue;
    thread->join();
    threads_.erase(thread);
  }
  left_.clear();
}

// A thread that is waited for may start others before it ends: they are waited for, too.
void ThreadTeam::join() {
  for (;;) {
    std::thread thread;
    {
      const std::lock_guard lock(mutex_);
      if (threads_.empty()) break;
      thread = std::move(threads_.back());
      threads_.pop_back();
    }
    thread.join();
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
