#include "core/formats/mapping_csv.hpp"

#include "core/decimal.hpp"

namespace fastdump {
namespace {

// Up to the next line feed, without it and without a carriage return before it.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

std::unordered_map<std::string, std::string> parse_mapping_csv(std::string_view text) {
  std::unordered_map<std::string, std::string> names;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    // Nothing is quoted and names may contain commas: only the first one separates.
    const std::size_t comma = line.find(',');
    if (comma == std::string_view::npos) continue;
    const std::string_view digits = line.substr(0, comma);
    const std::string_view path = line.substr(comma + 1);
    const std::string_view name = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
    if (is_decimal(digits) && !name.empty()) names[std::string(digits)] = name;
  }
  return names;
}

}  // namespace fastdump
