// What a dump file's name tells. Names decide nothing final about content.
#pragma once

#include <string_view>

#include "core/formats/description.hpp"

namespace fastdump {

FileName parse_file_name(std::string_view name);

}  // namespace fastdump
