// One line of a CSV file.
#include "core/formats/csv_line.hpp"

#include "target.hpp"

namespace fastdump::fuzz {
namespace {

std::string without_doubled_quotes(std::string_view text) {
  std::string once;
  for (std::size_t i = 0; i < text.size(); ++i) {
    once += text[i];
    if (text.substr(i, 2) == "\"\"") ++i;
  }
  return once;
}

std::vector<std::string_view> cut_at_commas(std::string_view line) {
  std::vector<std::string_view> cells;
  for (std::size_t comma = line.find(','); comma != std::string_view::npos;
       comma = line.find(',')) {
    cells.push_back(line.substr(0, comma));
    line.remove_prefix(comma + 1);
  }
  cells.push_back(line);
  return cells;
}

}  // namespace

void run(std::span<const std::byte> input) {
  const Exact memory(input);
  const std::string_view text = memory.text();
  CsvLine line;
  const bool is_closed = line.split(text);
  const std::size_t n_cells = line.size();
  CHECK(n_cells <= CsvLine::kMaxCells);
  for (std::size_t i = 0; i < n_cells && is_closed; ++i) {
    // Only quotes within quotes are doubled.
    CHECK(line.text(i) == line[i] || line.text(i) == without_doubled_quotes(line[i]));
    CHECK(text.find(line[i]) != std::string_view::npos);
  }
  if (text.find('"') != std::string_view::npos) return;
  // Without quotes a line is cut where its commas are.
  const auto expected = cut_at_commas(text);
  CHECK(is_closed);
  CHECK_EQ(line.size(), std::min(expected.size(), CsvLine::kMaxCells));
  for (std::size_t i = 0; i < n_cells; ++i) {
    CHECK_EQ(line[i], trimmed(expected.at(i)));
    CHECK_EQ(line.is_empty(i), line[i].empty());
  }
}

std::vector<std::string> seeds() {
  return {"Input,0, 16 ,\"a,\"\"b\"\"\",", "\"open", "\"a\" b,c", std::string(200, ',')};
}

}  // namespace fastdump::fuzz
