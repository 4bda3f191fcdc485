#include "core/concurrency/background.hpp"

#include <utility>

#include "core/concurrency/thread_start.hpp"

namespace fastdump {

void Background::start(std::function<void()> work) {
  const auto run = [this, work = std::move(work)] {
    try {
      work();
    } catch (...) {
      failure_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    ended_.notify_all();
  };
  try {
    thread_ = start_thread(run);
  } catch (const std::exception&) {  // no thread, or no memory for one
    run();
  }
}

bool Background::wait_for(std::chrono::milliseconds timeout) {
  {
    std::unique_lock lock(mutex_);
    if (!ended_.wait_for(lock, timeout, [&] { return has_ended_; })) return false;
  }
  join();
  if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
  return true;
}

void Background::join() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace fastdump
