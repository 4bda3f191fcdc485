// FFTS+ slices: one thread's parts of an operator's tensors, whose header tells the whole shapes.
#pragma once

#include <cstdint>

#include "core/formats/description.hpp"

namespace fastdump {

// If an attribute of the header tells how tensors were cut, gives those that thread `thread_id`
// dumped the shape of its part and notes the part in `description.slices`. A tensor whose declared
// size is not that of its part stays as it is. Before payloads are placed.
void apply_ffts_slices(FileDescription& description, std::int64_t thread_id);

}  // namespace fastdump
