// What one call of a job has done, of which any number of threads may call it at a time.
#pragma once

#include <cstdint>

namespace fastdump {

struct Step {
  std::uint64_t nbytes = 0;  // 0: there was nothing left to do
  bool is_last = false;      // all of the job is done now: this thread ends it
};

}  // namespace fastdump
