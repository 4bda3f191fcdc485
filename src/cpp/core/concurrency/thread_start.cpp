#include "core/concurrency/thread_start.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cstddef>
#include <exception>
#include <future>
#include <system_error>
#include <utility>

namespace fastdump {
namespace {

// glibc reserves twice 64 MiB to give a thread an aligned heap of 64 MiB. What remains of it, and
// as much again, is for buffers.
constexpr std::size_t kBesideStack = std::size_t{192} << 20;

bool is_limited() {
  struct rlimit limit{};
  return ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

std::size_t stack_nbytes() {
  pthread_attr_t attributes;
  std::size_t nbytes = 0;
  if (::pthread_attr_init(&attributes) != 0) return nbytes;
  ::pthread_attr_getstacksize(&attributes, &nbytes);
  ::pthread_attr_destroy(&attributes);
  return nbytes;
}

bool has_room() {
  const std::size_t nbytes = stack_nbytes() + kBesideStack;
  void* const room = ::mmap(nullptr, nbytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return false;
  ::munmap(room, nbytes);
  return true;
}

// The C++ library has its variables of a thread in one block, made at the first use of any. Making
// the block also gives the thread its heap.
void make_own_variables() { [[maybe_unused]] volatile const int n = std::uncaught_exceptions(); }

}  // namespace

bool has_room_for_thread() { return !is_limited() || has_room(); }

std::thread start_thread(std::function<void()> work) {
  if (!is_limited()) return std::thread(std::move(work));
  if (!has_room()) throw std::system_error(std::make_error_code(std::errc::not_enough_memory));
  std::promise<void> made;
  const std::future<void> is_made = made.get_future();
  std::thread thread([made = std::move(made), work = std::move(work)]() mutable {
    make_own_variables();
    made.set_value();
    work();
  });
  is_made.wait();
  return thread;
}

}  // namespace fastdump
