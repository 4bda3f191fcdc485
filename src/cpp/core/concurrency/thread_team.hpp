// Threads that do the same thing, as many as there is work for, until all of it is done.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace fastdump {

class ThreadTeam {
 public:
  // Every thread calls `work` once, which must not throw.
  ThreadTeam(std::size_t max_threads, std::function<void()> work)
      : max_threads_(max_threads), work_(std::move(work)) {}
  ~ThreadTeam() { join(); }
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  // Works in this thread, and returns when all others have ended, too.
  void run() {
    work_();
    join();
  }

  // Sees to it that there are `n` threads, that of run() among them, but never more than there may
  // be. Where the system starts no more there are fewer: work must leave nothing to a certain
  // thread. Any thread of the team may call it.
  void grow_to(std::size_t n);
  // The same for `n` more than there are, but no more than `most` in all.
  void grow_by(std::size_t n, std::size_t most);
  // That have not left.
  std::size_t n_threads() const { return n_threads_.load(std::memory_order_relaxed); }
  // True if there are more than `n` threads: then the calling one, which is not that of run(), no
  // longer counts, and has to end.
  bool leaves(std::size_t n);

 private:
  void grow(std::size_t n_threads);
  void join_left();
  void join();

  const std::size_t max_threads_;
  const std::function<void()> work_;
  std::mutex mutex_;
  std::vector<std::thread> threads_;        // without that of run()
  std::vector<std::thread::id> left_;       // of threads_ that are about to end
  std::atomic<std::size_t> n_threads_ = 1;  // that have not left, that of run() among them
};

// Calls work() in `n` threads, this one among them, and returns when all have ended. Rethrows what
// one of the calls threw. `work` must leave nothing to a certain thread.
void run_in_threads(std::size_t n, const std::function<void()>& work);

}  // namespace fastdump
