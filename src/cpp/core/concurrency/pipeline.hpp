// The loop of every thread of a scan or of a comparison: items are found, some become jobs that
// many threads take part in, and all threads end together. What an item and a job are is the
// business of whoever derives from it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <optional>

#include "core/concurrency/depth.hpp"
#include "core/concurrency/step.hpp"
#include "core/concurrency/thread_team.hpp"
#include "core/concurrency/thread_time.hpp"
#include "core/concurrency/work_list.hpp"

namespace fastdump {

// The job of a pipeline whose items are too small for several threads.
struct NoJob {
  static std::uint64_t n_chunks() { return 0; }
};

// `Context` is what one thread keeps while it works: it is made, used and destroyed by that thread.
// It has a ThreadStopwatch `stopwatch`.
template <class Job, class Context>
class Pipeline {
 public:
  // There are never more than `most_threads`, whatever is asked for.
  Pipeline(const Parallelism& asked, std::size_t most_threads, const std::atomic<bool>& stop)
      : depth_(asked, most_threads), list_(stop), team_(most_threads, [this] { run_thread(); }) {}
  virtual ~Pipeline() = default;
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  // Until all is done, or stopped. Whatever the functions below throw ends all threads soon, and is
  // thrown here.
  void run() {
    team_.run();
    list_.rethrow_failure();
  }

 protected:
  virtual std::unique_ptr<Context> make_context() = 0;
  // Calls add_items(). One thread does it, before it works on them.
  virtual void find_items(Context& context) = 0;
  // May publish() a job, or add_items().
  virtual void do_item(std::size_t item, Context& context) = 0;
  virtual Step do_step(Job& job, Context& context) = 0;
  // Returns a job that is to follow, or nullptr.
  virtual std::shared_ptr<Job> end_job(Job& job, Context& context) = 0;
  // After some items, or a step.
  virtual void report(Context& context) = 0;
  // Once in each thread that has not failed, in the end.
  virtual void end_thread(Context& context) = 0;

  // There are `n` items now, at least.
  void add_items(std::size_t n) {
    list_.grow(n);
    team_.grow_to(std::min(n, depth_.n_threads()));
  }

  // Lets other threads take part in the job, and takes part in it.
  void publish(const std::shared_ptr<Job>& job, Context& context) {
    add_job(job);
    do_job(job, context);
  }

  bool has_ended() const { return list_.has_ended(); }
  bool waits_for_storage() const { return depth_.has_more_than_cpus(); }

 private:
  using Work = typename WorkList<Job>::Work;

  void run_thread() {
    try {
      const std::unique_ptr<Context> context = make_own_context();
      if (context == nullptr) return;
      const bool is_first = !has_begun_.exchange(true);
      if (is_first) {
        find_items(*context);
        list_.end_growth();
      }
      context->stopwatch.restart();
      std::optional<Work> work;
      while ((work = next_work(work, *context))) {
        do_work(*work, *context);
        if (!is_first && team_.leaves(depth_.n_threads())) {
          list_.leave(*work);
          break;
        }
      }
      end_thread(*context);
    } catch (...) {
      list_.fail(std::current_exception());
    }
  }

  // Waiting for work is not waiting for storage.
  std::optional<Work> next_work(const std::optional<Work>& done, Context& context) {
    ThreadStopwatch& stopwatch = context.stopwatch;
    const std::int64_t before = stopwatch.elapsed_ns();
    std::optional<Work> work = list_.next(done, depth_.n_threads());
    if (stopwatch.elapsed_ns() - before > kLongWaitNs) stopwatch.restart();
    return work;
  }

  // Sees to it that there are as many threads as the storage wants.
  void measure(Context& context) {
    if (depth_.is_fixed() || context.stopwatch.elapsed_ns() < kMeasuredNs) return;
    if (!depth_.record(context.stopwatch.take())) return;
    const std::size_t n_left = list_.n_left();
    if (n_left != 0) team_.grow_by(n_left, depth_.n_threads());
  }

  // Without the memory for one a thread leaves the work to others, if there are any: the one that
  // has begun stays until all is done.
  std::unique_ptr<Context> make_own_context() {
    try {
      return make_context();
    } catch (const std::bad_alloc&) {
      if (!has_begun_) throw;
      return nullptr;
    }
  }

  void do_work(const Work& work, Context& context) {
    if (work.job != nullptr) {
      do_job(work.job, context);
      return;
    }
    for (std::size_t item = work.begin; item < work.end && !has_ended(); ++item) {
      do_item(item, context);
      measure(context);
    }
    report(context);
  }

  void add_job(const std::shared_ptr<Job>& job) {
    const std::size_t n_waiting = list_.add(job);
    const std::uint64_t n_helpers = job->n_chunks() - 1;
    if (n_helpers > n_waiting) team_.grow_by(n_helpers - n_waiting, depth_.n_threads());
  }

  // Takes part in a job until no step is left. What is thrown meanwhile ends the run, even if who
  // published the job would go on: the job's other steps would be waited for.
  void do_job(const std::shared_ptr<Job>& job, Context& context) {
    try {
      while (!has_ended()) {
        const Step step = do_step(*job, context);
        if (step.is_last) {
          if (const std::shared_ptr<Job> following = end_job(*job, context)) add_job(following);
          list_.end_job();
        }
        report(context);
        if (step.nbytes == 0) break;
        measure(context);
        // Others go on with the job, and so does this thread if it does not have to leave.
        if (team_.n_threads() > depth_.n_threads()) return;
      }
    } catch (...) {
      list_.fail(std::current_exception());
    }
    list_.remove(job);
  }

  // How often a thread tells what it has spent its time on, at most.
  static constexpr std::int64_t kMeasuredNs = 3'000'000;
  static constexpr std::int64_t kLongWaitNs = 50'000;

  std::atomic<bool> has_begun_ = false;
  Depth depth_;
  WorkList<Job> list_;
  ThreadTeam team_;
};

}  // namespace fastdump
