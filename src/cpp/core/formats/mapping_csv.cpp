#include "core/formats/mapping_csv.hpp"

#include <utility>

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

// Of a field in quotes, what is between them; of any other field, the field. Writers of dumps quote
// nothing: a name that has a quote only somewhere is taken as it stands.
std::string unquoted(std::string_view field) {
  if (field.size() < 2 || !field.starts_with('"') || !field.ends_with('"')) {
    return std::string(field);
  }
  const std::string_view inner = field.substr(1, field.size() - 2);
  std::string text;
  for (std::size_t i = 0; i < inner.size(); ++i) {
    if (inner[i] == '"' && (++i == inner.size() || inner[i] != '"')) return std::string(field);
    text += inner[i];
  }
  return text;
}

}  // namespace

std::unordered_map<std::string, std::string> parse_mapping_csv(std::string_view text) {
  std::unordered_map<std::string, std::string> names;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    // Names may contain commas, in quotes or without: only the first one separates.
    const std::size_t comma = line.find(',');
    if (comma == std::string_view::npos) continue;
    const std::string_view digits = line.substr(0, comma);
    const std::string path = unquoted(line.substr(comma + 1));
    std::string name = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
    if (is_decimal(digits) && !name.empty()) names[std::string(digits)] = std::move(name);
  }
  return names;
}

}  // namespace fastdump
