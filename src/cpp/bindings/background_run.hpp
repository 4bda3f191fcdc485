// A scan or comparison that goes on in threads of its own while Python waits for it.
#pragma once

#include <algorithm>
#include <chrono>

#include "bindings/bindings.hpp"

namespace fastdump::bindings {

// Starts `task` and waits for its end. Calls on_progress(task.progress()) about every interval_s,
// and in the end; answers Ctrl-C, and an exception of on_progress, by stopping the task.
template <class Task>
void run_in_background(Task& task, const py::object& on_progress, double interval_s) {
  constexpr double kMaxWait = 0.1;  // seconds; Ctrl-C is answered within this time
  using Seconds = std::chrono::duration<double>;
  const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(
      Seconds(std::min(interval_s, kMaxWait)));
  {
    // GIL: the work touches no Python object; without a thread for it, it is done here.
    const py::gil_scoped_release release;
    task.start();
  }
  const auto has_ended = [&] {
    // GIL: waiting touches no Python object.
    const py::gil_scoped_release release;
    return task.wait_for(wait);
  };
  auto last = std::chrono::steady_clock::now();
  try {
    while (!has_ended()) {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      const auto now = std::chrono::steady_clock::now();
      if (on_progress.is_none() || Seconds(now - last).count() < interval_s) continue;
      last = now;
      on_progress(task.progress());
    }
    if (!on_progress.is_none()) on_progress(task.progress());
  } catch (py::error_already_set&) {
    // What was finished stays readable; nothing runs on behind the caller's back.
    const py::gil_scoped_release release;
    task.stop();
    throw;
  }
}

}  // namespace fastdump::bindings
