// What a dump file's directories tell: rank, time, device, model, model id, step.
#pragma once

#include <string_view>

#include "core/formats/description.hpp"

namespace fastdump {

// `above` is the absolute path of the scanned root, `below` the file's directory relative to it.
// Layouts are found by their anchors (time, rank and step directories), never by depth.
Where parse_tree_path(std::string_view above, std::string_view below);

}  // namespace fastdump
