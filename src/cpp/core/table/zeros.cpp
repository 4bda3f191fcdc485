#include "core/table/zeros.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <mutex>
#include <new>

namespace fastdump {
namespace {

constexpr std::size_t kLeastNbytes = std::size_t{1} << 20;

}  // namespace

const void* zeros(std::size_t nbytes) {
  static std::mutex mutex;
  static const void* data = nullptr;
  static std::size_t size = 0;
  const std::lock_guard lock(mutex);
  if (nbytes > size) {
    // What was given before stays where it is. Addresses double each time: all of them together
    // are no more than twice the last.
    const std::size_t larger = std::bit_ceil(std::max(nbytes, kLeastNbytes));
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void* const mapped = ::mmap(nullptr, larger, PROT_READ, kFlags, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    data = mapped;
    size = larger;
  }
  return data;
}

}  // namespace fastdump
