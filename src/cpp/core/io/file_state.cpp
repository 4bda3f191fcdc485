#include "core/io/file_state.hpp"

#include <algorithm>

namespace fastdump {
namespace {

constexpr std::int64_t kClockMarginNs = 2'000'000'000;

// Every bit of `x` counts for the result, and no two numbers give the same.
std::uint64_t mixed(std::uint64_t x) {
  constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;  // times 2^64
  for (int i = 0; i < 2; ++i) {
    x ^= x >> 32;
    x *= kGoldenRatio;
  }
  return x ^ x >> 32;
}

}  // namespace

FileState state_of(const FileStatus& status) {
  std::uint64_t state = mixed(status.inode + 1);
  state = mixed(state ^ status.nbytes);
  state = mixed(state ^ static_cast<std::uint64_t>(status.modified_ns));
  state = mixed(state ^ static_cast<std::uint64_t>(status.changed_ns));
  return static_cast<FileState>(state);
}

bool is_unchanged_since(std::int64_t begin_ns, const FileStatus& status) {
  return std::max(status.modified_ns, status.changed_ns) < begin_ns - kClockMarginNs;
}

bool was_written_just_now(const FileStatus& status) {
  const std::int64_t age = system().now_ns() - status.changed_ns;
  // A time that lies far ahead is that of another clock, for which nobody can wait.
  return age < 2 * kClockTickNs && age > -2 * kClockTickNs;
}

}  // namespace fastdump
