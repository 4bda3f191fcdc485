// Copies of memory, several at once.
#pragma once

#include <cstddef>
#include <span>

namespace fastdump {

struct Copy {
  const std::byte* from;
  std::byte* to;
  std::size_t nbytes;
};

// Makes copies, none of which writes to memory that one reads, by up to `threads` threads.
void make_copies(std::span<const Copy> copies, int threads);

}  // namespace fastdump
