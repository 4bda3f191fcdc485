// Shell patterns (*, ?, [abc]), as operators are selected by them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fastdump {

bool matches_any(const std::vector<std::string>& patterns, const std::string& text);

// Writers of file names replace ' ', '.', '/' and '\\' by '_': `text` with the same done to it.
std::string as_in_file_name(std::string_view text);
// A pattern for names of operators as one for file names. Backslashes that quote a character of
// the pattern language stay.
std::string pattern_as_in_file_name(std::string_view pattern);

}  // namespace fastdump
