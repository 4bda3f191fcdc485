// What threads share: items, each of which may turn out to be a job for many threads. Items may
// come while others are worked on. One flat list, so that one huge item and a million small ones
// both keep every thread busy.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace fastdump {

template <class Job>
class WorkList {
 public:
  // `stop` ends the list soon, whoever sets it.
  WorkList(std::size_t n_items, int n_threads, const std::atomic<bool>& stop)
      : n_threads_(static_cast<std::size_t>(n_threads)), stop_(stop), n_items_(n_items) {}
  // Items come by grow(), until end_growth().
  WorkList(int n_threads, const std::atomic<bool>& stop) : WorkList(0, n_threads, stop) {
    n_sources_ = 1;
  }

  // A job to help with or, if that is null, items [begin, end) to begin.
  struct Work {
    std::shared_ptr<Job> job;
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  // A job before new items, so that few are open. Waits while other threads may still add jobs;
  // empty if there is nothing left to do.
  std::optional<Work> next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
      return ended() || !jobs_.empty() || next_item_ < n_items_ || n_sources_ == 0;
    });
    if (ended()) return std::nullopt;
    if (!jobs_.empty()) return Work{jobs_.front()};
    if (next_item_ == n_items_) return std::nullopt;
    const std::size_t begin = next_item_;
    next_item_ += std::clamp<std::size_t>((n_items_ - begin) / (8 * n_threads_), 1, kMaxBatch);
    ++n_sources_;
    return Work{nullptr, begin, next_item_};
  }

  // There are items up to `n` now; what was written before about them can be read by who gets them.
  void grow(std::size_t n) {
    {
      const std::lock_guard lock(mutex_);
      n_items_ = n;
    }
    changed_.notify_all();
  }

  // There will be no more items.
  void end_growth() { end_source(); }

  // All items of one next() have been begun: they will add no job.
  void end_items() { end_source(); }

  void add(std::shared_ptr<Job> job) {
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(std::move(job));
      ++n_sources_;
    }
    changed_.notify_all();
  }

  // All work of a job is done: it will add no other job.
  void end_job() { end_source(); }

  // The job has no work left that a thread could take; some may still be at it.
  void remove(const std::shared_ptr<Job>& job) {
    const std::lock_guard lock(mutex_);
    std::erase(jobs_, job);
  }

  // Ends the list; the first failure counts.
  void fail(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (failure_ == nullptr) failure_ = std::move(failure);
    failed_ = true;
    changed_.notify_all();
  }

  bool ended() const { return stop_ || failed_; }

  // After all threads have left.
  void rethrow_failure() const {
    if (failure_ != nullptr) std::rethrow_exception(failure_);
  }

 private:
  // Items that a thread takes at once: fewer visits to the lock, still an even end.
  static constexpr std::size_t kMaxBatch = 16;

  void end_source() {
    const std::lock_guard lock(mutex_);
    if (--n_sources_ == 0) changed_.notify_all();
  }

  const std::size_t n_threads_;
  const std::atomic<bool>& stop_;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t n_items_ = 0;
  std::size_t next_item_ = 0;
  // What may still add a job or an item: growth, batches of items, jobs.
  std::size_t n_sources_ = 0;
  std::deque<std::shared_ptr<Job>> jobs_;
  std::exception_ptr failure_;
};

}  // namespace fastdump
