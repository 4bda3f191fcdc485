// The loop of every thread of a scan or of a comparison: items are found, some become jobs that
// many threads take part in, and all threads end together. What an item and a job are is the
// business of whoever derives from it.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <optional>

#include "core/concurrency/step.hpp"
#include "core/concurrency/thread_team.hpp"
#include "core/concurrency/work_list.hpp"

namespace fastdump {

// `Context` is what one thread keeps while it works: it is made, used and destroyed by that thread.
template <class Job, class Context>
class Pipeline {
 public:
  Pipeline(std::size_t max_threads, const std::atomic<bool>& stop)
      : list_(max_threads, stop), team_(max_threads, [this] { run_thread(); }) {}
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
  // Calls add_items() as items are found. One thread does it, before it works on them.
  virtual void find_items(Context& context) = 0;
  // May publish() a job.
  virtual void do_item(std::size_t item, Context& context) = 0;
  virtual Step do_step(Job& job, Context& context) = 0;
  // Returns a job that is to follow, or nullptr.
  virtual std::shared_ptr<Job> end_job(Job& job, Context& context) = 0;
  // After some items, or a step.
  virtual void report(Context& context) = 0;
  // Once in each thread that has not failed, in the end.
  virtual void end_thread(Context& context) = 0;

  // There are `n` items now.
  void add_items(std::size_t n) {
    list_.grow(n);
    team_.grow_to(n);
  }

  // Lets other threads take part in the job, and takes part in it.
  void publish(const std::shared_ptr<Job>& job, Context& context) {
    add_job(job);
    do_job(job, context);
  }

  bool has_ended() const { return list_.has_ended(); }

 private:
  using Work = typename WorkList<Job>::Work;

  void run_thread() {
    try {
      const std::unique_ptr<Context> context = make_own_context();
      if (context == nullptr) return;
      if (!has_begun_.exchange(true)) {
        find_items(*context);
        list_.end_growth();
      }
      std::optional<Work> work;
      while ((work = list_.next(work))) do_work(*work, *context);
      end_thread(*context);
    } catch (...) {
      list_.fail(std::current_exception());
    }
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
    }
    report(context);
  }

  void add_job(const std::shared_ptr<Job>& job) {
    const std::size_t n_waiting = list_.add(job);
    const std::uint64_t n_helpers = job->n_chunks() - 1;
    if (n_helpers > n_waiting) team_.grow_by(n_helpers - n_waiting);
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
      }
    } catch (...) {
      list_.fail(std::current_exception());
    }
    list_.remove(job);
  }

  std::atomic<bool> has_begun_ = false;
  WorkList<Job> list_;
  ThreadTeam team_;
};

}  // namespace fastdump
