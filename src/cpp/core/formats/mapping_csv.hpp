// mapping.csv: real names of files whose over-long names were replaced by digits.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

namespace fastdump {

// digits -> original file name (its last path component). Tolerates duplicates (the last wins),
// CRLF, blank and malformed lines; reads names that contain commas, in quotes or without.
std::unordered_map<std::string, std::string> parse_mapping_csv(std::string_view text);

}  // namespace fastdump
