// The system's files as if nobody had written to them for an hour: what a test has just made is
// read as the files of a finished run are.
#pragma once

#include <cstdint>

#include "core/io/system.hpp"

namespace fastdump::tests {

inline constexpr std::int64_t kHourNs = 3'600'000'000'000;

class AgedSystem : public System {
 public:
  int status(int descriptor, FileStatus& status) override {
    const int result = System::status(descriptor, status);
    status.changed_ns -= kHourNs;
    status.modified_ns -= kHourNs;
    return result;
  }
  // To ask for the time is a system call under some emulators, and nowhere else.
  std::int64_t now_ns() override { return now_ns_; }

 private:
  const std::int64_t now_ns_ = System::now_ns();
};

}  // namespace fastdump::tests
