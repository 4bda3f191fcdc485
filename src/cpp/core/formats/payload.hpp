// Where payloads lie that follow a header back to back, and what of each can be reduced.
#pragma once

#include <cstdint>

#include "core/formats/description.hpp"

namespace fastdump {

// Sets offset, n_elements, status and note of every tensor, a missing shape where the size tells
// one, and the file's note. The first payload is at byte `begin`, not after `file_size`. Whatever
// sizes and shapes claim, the elements counted lie inside the file.
void place_payloads(FileDescription& description, std::uint64_t begin, std::uint64_t file_size);

}  // namespace fastdump
