// Work that goes on in a thread of its own while its owner waits in short slices, so that signals
// can be answered meanwhile.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace fastdump {

class Background {
 public:
  Background() = default;
  ~Background() { join(); }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // Once. Where the system starts no thread the work is done in this one, before start() returns.
  void start(std::function<void()> work);
  // True once the work is done. Rethrows what ended it.
  bool wait_for(std::chrono::milliseconds timeout);
  // Waits as long as it takes.
  void join();

 private:
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool has_ended_ = false;
  std::exception_ptr failure_;
};

}  // namespace fastdump
