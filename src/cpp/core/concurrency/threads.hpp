// Threads for the length of one call.
#pragma once

#include <system_error>
#include <thread>
#include <vector>

namespace fastdump {

// Calls work() in `n` threads, this one among them, and returns when all have. Where the system
// starts no more threads there are fewer of them: work() must leave nothing to a certain thread,
// and must not throw.
template <class Work>
void run_in_threads(std::size_t n, const Work& work) {
  std::vector<std::thread> threads;
  threads.reserve(n);
  try {
    while (threads.size() + 1 < n) threads.emplace_back(work);
  } catch (const std::system_error&) {
    // As many as there are.
  }
  work();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace fastdump
