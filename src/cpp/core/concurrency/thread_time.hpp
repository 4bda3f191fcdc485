// How a thread spends its time: at work, or blocked by what is not the CPU.
#pragma once

#include <cstdint>

namespace fastdump {

struct ThreadTime {
  std::int64_t busy_ns = 0;
  std::int64_t blocked_ns = 0;  // estimated: without what the thread waited for a CPU
};

// Of the thread that made it, and calls it.
class ThreadStopwatch {
 public:
  ThreadStopwatch() { restart(); }

  void restart();
  // Nanoseconds of the wall since restart(), at the cost of no system call.
  std::int64_t elapsed_ns() const;
  // The time since restart(), which it calls.
  ThreadTime take();

 private:
  struct Reading {
    std::int64_t wall_ns = 0;
    std::int64_t cpu_ns = 0;
    // How often the thread has given its CPU up, and how often it was taken away.
    std::int64_t n_blocked = 0;
    std::int64_t n_preempted = 0;
  };

  static Reading read();

  Reading start_;
};

}  // namespace fastdump
