// Settings that come from environment variables.
#pragma once

#include <cstdint>
#include <optional>

namespace fastdump {

// The number that the variable holds; empty if the variable is not set, or empty. Throws
// std::invalid_argument, with the variable's name, for anything but a number from `least` to
// `most`.
std::optional<std::int64_t> number_in_environment(const char* name, std::int64_t least,
                                                  std::int64_t most);

}  // namespace fastdump
