#include "core/formats/csv_line.hpp"

namespace fastdump {
namespace {

constexpr std::string_view kBlanks(" \t\r\0", 4);

// Where the quote that closes stands, `text` beginning after the one that opens.
std::size_t closing_quote(std::string_view text) {
  std::size_t at = text.find('"');
  while (at != std::string_view::npos && at + 1 < text.size() && text[at + 1] == '"') {
    at = text.find('"', at + 2);
  }
  return at;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

bool CsvLine::split(std::string_view line) {
  size_ = 0;
  while (size_ < kMaxCells) {
    Cell& cell = cells_[size_++];
    const std::size_t first = line.find_first_not_of(kBlanks);
    cell.quoted = first != std::string_view::npos && line[first] == '"';
    std::size_t comma = 0;
    if (cell.quoted) {
      line.remove_prefix(first + 1);
      const std::size_t quote = closing_quote(line);
      if (quote == std::string_view::npos) return false;
      cell.text = trimmed(line.substr(0, quote));
      comma = line.find(',', quote);
      if (!trimmed(line.substr(quote + 1, comma - quote - 1)).empty()) return false;
    } else {
      comma = line.find(',');
      cell.text = trimmed(line.substr(0, comma));
    }
    if (comma == std::string_view::npos) return true;
    line.remove_prefix(comma + 1);
  }
  return true;
}

std::string CsvLine::text(std::size_t i) const {
  std::string_view cell = cells_[i].text;
  if (!cells_[i].quoted) return std::string(cell);
  std::string text;
  text.reserve(cell.size());
  for (std::size_t pair = cell.find("\"\""); pair != std::string_view::npos;
       pair = cell.find("\"\"")) {
    text += cell.substr(0, pair + 1);
    cell.remove_prefix(pair + 2);
  }
  return text += cell;
}

}  // namespace fastdump
