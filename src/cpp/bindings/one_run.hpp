// A scan or comparison that goes on in threads of its own while Python waits for it: it runs once,
// and its results are there when it has ended.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "bindings/bindings.hpp"
#include "bindings/without_gil.hpp"

namespace fastdump::bindings {

// `Task` has start(), wait_for(), stop() and progress(). Any threads may call what is here, with or
// without a GIL, at the same time.
template <class Task>
class OneRun {
 public:
  // `name` as in "a scan".
  OneRun(std::string name, std::unique_ptr<Task> task)
      : name_(std::move(name)), task_(std::move(task)) {}
  ~OneRun() {
    // Waiting for threads that are not there would not end, and what they were changing is half
    // changed.
    if (!may_touch_task()) static_cast<void>(task_.release());
  }
  OneRun(const OneRun&) = delete;
  OneRun& operator=(const OneRun&) = delete;

  // Waits for the end of the task. Calls on_progress(task.progress()) about every interval_s, and
  // in the end, unless it is None; answers Ctrl-C, and an exception of on_progress, by stopping the
  // task. Throws std::runtime_error if it was run before, or in a child that is forked meanwhile.
  void run(const py::object& on_progress, double interval_s) {
    using Seconds = std::chrono::duration<double>;
    using Clock = std::chrono::steady_clock;
    // Not a number is no short interval.
    const bool is_short = interval_s < Seconds(kMaxWait).count();
    const auto wait = is_short ? std::chrono::duration_cast<std::chrono::milliseconds>(
                                     Seconds(std::max(interval_s, 0.0)))
                               : kMaxWait;
    auto last = Clock::now();
    run(wait, [&](bool has_ended) {
      const auto now = Clock::now();
      if (on_progress.is_none()) return;
      if (!has_ended && Seconds(now - last).count() < interval_s) return;
      last = now;
      call_python([&] { on_progress(task_->progress()); });
    });
  }
  // The same without reports.
  void run() {
    run(kMaxWait, [](bool) {});
  }

  auto progress() const { return task_->progress(); }

  // The task with its results; it has none and never runs if it was not run before. Throws
  // std::runtime_error while it runs.
  Task& ended() {
    pid_t state = kFresh;
    if (!state_.compare_exchange_strong(state, kEnded) && state != kEnded) {
      throw std::runtime_error(name_ + " has not ended");
    }
    return *task_;
  }

 private:
  // What state_ is while the task does not run; else the process that runs it.
  static constexpr pid_t kFresh = 0;
  static constexpr pid_t kEnded = -1;

  // Ctrl-C is answered within this time.
  static constexpr std::chrono::milliseconds kMaxWait{100};

  // False where another process runs the task: this one is its child, and lacks the threads.
  bool may_touch_task() const {
    const pid_t state = state_;
    return state == kFresh || state == kEnded || state == ::getpid();
  }

  template <class Report>
  void run(std::chrono::milliseconds wait, const Report& report) {
    pid_t state = kFresh;
    if (!state_.compare_exchange_strong(state, ::getpid())) {
      throw std::runtime_error(name_ + " runs once");
    }
    try {
      start();
      while (!has_ended(wait)) {
        call_python([] {
          if (PyErr_CheckSignals() != 0) throw py::error_already_set();
        });
        report(false);
      }
      report(true);
    } catch (...) {
      if (!may_touch_task()) throw;
      // What was finished stays readable; nothing runs on behind the caller's back.
      const WithoutGil released;
      task_->stop();
      state_ = kEnded;
      throw;
    }
    state_ = kEnded;
  }

  // Without a thread for it, the work is done here.
  void start() {
    const WithoutGil released;
    task_->start();
  }

  bool has_ended(std::chrono::milliseconds wait) {
    if (!may_touch_task()) throw std::runtime_error(name_ + " was begun by another process");
    const WithoutGil released;
    return task_->wait_for(wait);
  }

  const std::string name_;
  std::unique_ptr<Task> task_;
  std::atomic<pid_t> state_ = kFresh;
};

}  // namespace fastdump::bindings
