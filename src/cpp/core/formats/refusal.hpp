// Why bytes are not of some format: a value, for most files are simply of another kind.
#pragma once

#include <cstdint>
#include <string>

namespace fastdump {

struct Refusal {
  std::string what;
  std::uint64_t offset = 0;  // where in the file this was seen
};

}  // namespace fastdump
