// FORMAT numbers and their names, without the FORMAT_ prefix.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace fastdump {

// By number from 0; the numbers are contiguous.
std::span<const std::string_view> tensor_formats();

// Empty for a number that no source documents.
std::string_view tensor_format_name(std::int64_t number);

}  // namespace fastdump
