// Files that gave no row, and why.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace fastdump {

// Reason -> number of files.
using SkippedFiles = std::map<std::string, std::uint64_t, std::less<>>;

void count_skipped(SkippedFiles& skipped, std::string_view reason);
void add_skipped(SkippedFiles& skipped, const SkippedFiles& more);

}  // namespace fastdump
