// mapping.csv: what files with names of digits are called in truth.
#include "core/formats/mapping_csv.hpp"

#include "core/decimal.hpp"
#include "target.hpp"

namespace fastdump::fuzz {
namespace {

std::string with_doubled_quotes(const std::string& name) {
  std::string text;
  for (const char c : name) text += c == '"' ? "\"\"" : std::string(1, c);
  return text;
}

}  // namespace

void run(std::span<const std::byte> input) {
  const Exact text(input);
  const auto names = parse_mapping_csv(text.text());
  std::size_t nbytes = 0;
  for (const auto& [digits, name] : names) {
    CHECK(is_decimal(digits));
    CHECK(!name.empty() && name.find_first_of("/\n") == std::string::npos);
    CHECK(text.text().find(digits + ",") != std::string_view::npos);
    CHECK(text.text().find(name) != std::string_view::npos ||
          text.text().find(with_doubled_quotes(name)) != std::string_view::npos);
    nbytes += digits.size() + name.size() + 1;
  }
  CHECK(nbytes <= input.size());
  // What comes later wins.
  const std::string more = std::string(text.text()) + "\n17,a/b,c\n17,d/e,f";
  CHECK_EQ(parse_mapping_csv(more).at("17"), "e,f");
}

std::vector<std::string> seeds() {
  return {"9134657216587341217,/dump/Add.a.1.2.1700000000000000\r\n\n12,x,y\n12,z\n,\nx,1\n3,",
          "20,\"/dump/Add.\"\"a\"\",b\"\n21,\"\"\"\n22,a\"\"b\n"};
}

}  // namespace fastdump::fuzz
