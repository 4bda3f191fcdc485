// The descriptors that the core holds. A process may have only so many: who gets none waits until
// another thread has closed one.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "core/io/system.hpp"

namespace fastdump {

void count_opened_descriptor();
void count_closed_descriptor();

// How many of `n_threads` threads may be at work, one at least, so that each can hold so many
// descriptors besides those that the process has open now.
std::size_t threads_with_descriptors(std::size_t n_threads, std::size_t n_for_each);

// Whether a call has failed for want of descriptors, or of memory for one.
inline bool is_scarcity(int error) { return error == EMFILE || error == ENFILE || error == ENOMEM; }

// How often a descriptor was closed.
std::uint64_t n_closed_descriptors();

// Waits until more were closed. False at once if the core holds none, so that there is nothing to
// wait for, or if nothing was closed for a long time.
bool wait_for_closed_descriptor(std::uint64_t n_closed);

// The result of a call that is made again for as long as another thread may close what it lacks.
// The caller holds no descriptor of its own, or others would wait for it as it waits for them.
template <class Call>
auto retry_scarce(const Call& call) {
  const auto is_scarce = [](auto result) {
    return result < 0 && is_scarcity(static_cast<int>(-result));
  };
  auto result = retry_interrupted(call);
  while (is_scarce(result)) {
    // What is closed from here on is noticed, and what was closed before is tried for at once.
    const std::uint64_t n_closed = n_closed_descriptors();
    result = retry_interrupted(call);
    if (is_scarce(result) && !wait_for_closed_descriptor(n_closed)) break;
  }
  return result;
}

}  // namespace fastdump
