// Lines of CSV files: where cells begin and end, and what stands in quotes.

#include <string>
#include <string_view>

#include "check.hpp"
#include "core/formats/csv_line.hpp"

namespace fastdump {
namespace {

// The cells as text, each followed by '|'; "no line" if the line cannot be split.
std::string cells_of(std::string_view line) {
  CsvLine cells;
  if (!cells.split(line)) return "no line";
  std::string all;
  for (std::size_t i = 0; i < cells.size(); ++i) all += cells.text(i) + "|";
  return all;
}

void test_quotes() {
  CHECK_EQ(cells_of("a,b c, d "), "a|b c|d|");
  CHECK_EQ(cells_of(R"("a,b",c)"), "a,b|c|");
  CHECK_EQ(cells_of(R"("a""b","""","""""",c""d)"), "a\"b|\"|\"\"|c\"\"d|");
  CHECK_EQ(cells_of(R"("a"""",b")"), "a\"\",b|");
  CHECK_EQ(cells_of(R"("a)"), "no line");
}

// Every quote is doubled: to remove them one by one would take minutes.
void test_a_line_of_quotes() {
  constexpr std::size_t kQuotes = 30000;
  const std::string line = "\"" + std::string(2 * kQuotes, '"') + "\"";
  CsvLine cells;
  CHECK(cells.split(line));
  std::size_t n = 0;
  for (int i = 0; i < 5000; ++i) n += cells.text(0).size();
  CHECK_EQ(n, 5000 * kQuotes);
}

}  // namespace
}  // namespace fastdump

int main() {
  fastdump::test_quotes();
  fastdump::test_a_line_of_quotes();
  return fastdump::tests::exit_code();
}
