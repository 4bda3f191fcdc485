// What a kernel's argument is, by the number that exception dumps store as input_type.
#pragma once

#include <cstdint>
#include <string_view>

namespace fastdump {

// In words; empty for 0 (not an exception dump) and for a number that no source documents.
std::string_view argument_kind(std::uint32_t input_type);

}  // namespace fastdump
