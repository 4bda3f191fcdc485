// One line of a CSV file, cut into cells. As RFC 4180 has it, but that no quote spans lines: an
// unclosed one costs its line, not the rest of the file. Cells are views into the line; memory is
// bounded whatever the line holds.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace fastdump {

class CsvLine {
 public:
  // Of a longer line the first ones are cut, and size() says that there are so many.
  static constexpr std::size_t kMaxCells = 128;

  // False if a quote is not closed, or if more than blanks follow it in its cell. Blanks about
  // cells are trimmed, and with them the NUL that some writers leave at the end of a piece.
  bool split(std::string_view line);

  std::size_t size() const { return size_; }
  // Without the quotes around it; quotes inside of it are still doubled.
  std::string_view operator[](std::size_t i) const { return cells_[i].text; }
  bool is_empty(std::size_t i) const { return cells_[i].text.empty() && !cells_[i].quoted; }
  // With quotes that were doubled written once.
  std::string text(std::size_t i) const;

 private:
  struct Cell {
    std::string_view text;
    bool quoted = false;
  };

  std::array<Cell, kMaxCells> cells_;
  std::size_t size_ = 0;
};

// Without the blanks at both ends.
std::string_view trimmed(std::string_view text);

}  // namespace fastdump
