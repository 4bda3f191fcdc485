#include "core/tree/glob.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <cstddef>

namespace fastdump {
namespace {

constexpr std::string_view kReplaced = " ./\\";

char replaced(char c) { return kReplaced.find(c) == std::string_view::npos ? c : '_'; }

}  // namespace

bool matches_any(const std::vector<std::string>& patterns, const std::string& text) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) {
    return ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
  });
}

std::string as_in_file_name(std::string_view text) {
  std::string name(text);
  std::ranges::transform(name, name.begin(), replaced);
  return name;
}

std::string pattern_as_in_file_name(std::string_view pattern) {
  constexpr std::string_view kQuoted = "*?[]";
  std::string name;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char next = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (pattern[i] == '\\' && kQuoted.find(next) != std::string_view::npos) {
      name += {'\\', next};
      ++i;
    } else {
      name += replaced(pattern[i]);
      if (pattern[i] == '\\' && next == '\\') ++i;
    }
  }
  return name;
}

}  // namespace fastdump
