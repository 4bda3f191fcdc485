// What threads share: items, each of which may turn out to be a job for many threads. Items may
// come while others are worked on. The list is flat, so that one huge item and a million small ones
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

// The invariant: new work comes from sources only, and n_sources_ counts them. The sources are
//   - whoever adds items, until end_growth();
//   - each batch of items that a thread works on, any of which may become a job or lead to more
//     items, until that thread asks for its next work, or leaves;
//   - each job, which another may follow, until end_job().
// A thread that finds no work waits while there is a source, and leaves when there is none: nothing
// can come any more.
//
// Nobody is woken in vain: an addition wakes one thread, and a thread that finds more work than it
// takes wakes the next. A thread that leaves wakes all, for it has seen that the list ends.
template <class Job>
class WorkList {
 public:
  // `stop` ends the list soon, whoever sets it. Items come by grow(), until end_growth() and, after
  // it, from those who work on others.
  explicit WorkList(const std::atomic<bool>& stop) : stop_(stop) {}

  // A job to take part in or, if that is null, items [begin, end).
  struct Work {
    std::shared_ptr<Job> job;
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  // The next work of a thread that has done `done`, if it has done any. Jobs come before new items,
  // so that few jobs are open; of items it takes a share for one of `n_threads`. Waits while there
  // is a source; empty if nothing is left to do.
  std::optional<Work> next(const std::optional<Work>& done, std::size_t n_threads) {
    std::unique_lock lock(mutex_);
    if (done && done->job == nullptr) --n_sources_;
    ++n_waiting_;
    changed_.wait(lock, [&] { return has_ended() || has_work() || n_sources_ == 0; });
    --n_waiting_;
    if (has_ended() || !has_work()) {
      changed_.notify_all();
      return std::nullopt;
    }
    Work work = take(n_threads);
    if (n_waiting_ != 0 && has_work()) changed_.notify_one();
    return work;
  }

  // For a thread that takes no more work after `done`.
  void leave(const Work& done) {
    if (done.job == nullptr) end_source();
  }

  // There are `n` items now, at least. Who gets one of them can read what was written about it
  // before.
  void grow(std::size_t n) {
    const std::lock_guard lock(mutex_);
    n_items_ = std::max(n_items_, n);
    if (n_waiting_ != 0) changed_.notify_one();
  }

  // There will be no more items but those that others lead to.
  void end_growth() { end_source(); }

  // How many threads could take more work, at most.
  std::size_t n_left() const {
    const std::lock_guard lock(mutex_);
    std::size_t n = n_items_ - next_item_;
    for (const auto& job : jobs_) n += static_cast<std::size_t>(job->n_chunks());
    return n;
  }

  // Returns how many threads wait for work.
  std::size_t add(std::shared_ptr<Job> job) {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
    ++n_sources_;
    if (n_waiting_ != 0) changed_.notify_one();
    return n_waiting_;
  }

  // All of a job is done: no other job will follow it.
  void end_job() { end_source(); }

  // No work is left of the job that a thread could take; some may still be at it.
  void remove(const std::shared_ptr<Job>& job) {
    const std::lock_guard lock(mutex_);
    std::erase(jobs_, job);
  }

  // Ends the list; the first failure counts.
  void fail(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (failure_ == nullptr) failure_ = std::move(failure);
    has_failed_ = true;
    changed_.notify_all();
  }

  // Whether threads are to leave although there may be work.
  bool has_ended() const { return stop_ || has_failed_; }

  // After all threads have left.
  void rethrow_failure() const {
    if (failure_ != nullptr) std::rethrow_exception(failure_);
  }

 private:
  // Items that a thread takes at once: the more, the fewer visits to the lock; the fewer, the more
  // evenly all end.
  static constexpr std::size_t kMaxBatch = 64;

  bool has_work() const { return !jobs_.empty() || next_item_ < n_items_; }

  Work take(std::size_t n_threads) {
    if (!jobs_.empty()) return {jobs_.front()};
    const std::size_t begin = next_item_;
    next_item_ += std::clamp<std::size_t>((n_items_ - begin) / (8 * n_threads), 1, kMaxBatch);
    ++n_sources_;
    return {nullptr, begin, next_item_};
  }

  void end_source() {
    const std::lock_guard lock(mutex_);
    if (--n_sources_ == 0) changed_.notify_all();
  }

  const std::atomic<bool>& stop_;
  std::atomic<bool> has_failed_ = false;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t n_waiting_ = 0;  // threads
  std::size_t n_items_ = 0;
  std::size_t next_item_ = 0;
  std::size_t n_sources_ = 1;  // growth
  std::deque<std::shared_ptr<Job>> jobs_;
  std::exception_ptr failure_;
};

}  // namespace fastdump
