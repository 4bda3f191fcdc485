// Texts as numbers, against a map of texts: short and long ones, empty ones, nulls, and ends that
// a damaged table might have.
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"
#include "core/arrays/text_codes.hpp"

namespace fastdump {
namespace {

struct Column {
  std::vector<std::string> texts;
  std::vector<std::uint8_t> is_null;  // of each text, or none
};

template <class End>
void test(const Column& column, std::int64_t first_end) {
  std::string bytes;
  std::vector<End> ends = {static_cast<End>(first_end)};
  for (const std::string& text : column.texts) {
    bytes += text;
    ends.push_back(static_cast<End>(first_end + static_cast<std::int64_t>(bytes.size())));
  }
  std::map<std::string, std::int32_t> expected;
  std::vector<std::int32_t> expected_codes;
  std::vector<std::int64_t> expected_rows;
  for (std::size_t i = 0; i < column.texts.size(); ++i) {
    if (!column.is_null.empty() && column.is_null[i] != 0) {
      expected_codes.push_back(kNullCode);
      continue;
    }
    const auto next = static_cast<std::int32_t>(expected.size());
    const auto [found, is_new] = expected.emplace(column.texts[i], next);
    if (is_new) expected_rows.push_back(static_cast<std::int64_t>(i));
    expected_codes.push_back(found->second);
  }
  std::vector<std::int32_t> codes(column.texts.size(), 77);
  const auto rows = code_texts(std::span<const End>(ends), std::as_bytes(std::span(bytes)),
                               column.is_null, codes);
  CHECK(codes == expected_codes);
  CHECK(rows == expected_rows);
}

Column random_column(std::mt19937& random, std::size_t n, std::size_t n_distinct, bool has_nulls) {
  std::vector<std::string> distinct(n_distinct);
  for (std::string& text : distinct) {
    text.resize(random() % 40);
    // Few letters, zero among them: many texts differ only in their length or in one place.
    for (char& letter : text) letter = static_cast<char>(random() % 3);
  }
  Column column;
  for (std::size_t i = 0; i < n; ++i) {
    const bool is_same = i != 0 && random() % 2 == 0;
    column.texts.push_back(is_same ? column.texts.back() : distinct[random() % n_distinct]);
    if (has_nulls) column.is_null.push_back(random() % 5 == 0);
  }
  return column;
}

template <class End>
bool refuses(const std::vector<End>& ends, std::size_t nbytes, std::size_t n_flags,
             std::size_t n_codes) {
  const std::vector<std::byte> bytes(nbytes);
  const std::vector<std::uint8_t> flags(n_flags);
  std::vector<std::int32_t> codes(n_codes);
  try {
    code_texts(std::span<const End>(ends), bytes, flags, codes);
  } catch (const std::invalid_argument&) {
    return true;
  }
  return false;
}

}  // namespace
}  // namespace fastdump

int main() {
  using namespace fastdump;
  std::mt19937 random(1);
  for (const std::size_t n : {0, 1, 2, 63, 64, 65, 1000, 20000}) {
    for (const std::size_t n_distinct : {1, 2, 7, 5000}) {
      for (const bool has_nulls : {false, true}) {
        const Column column = random_column(random, n, n_distinct, has_nulls);
        test<std::int32_t>(column, 0);
        test<std::int32_t>(column, 1000);
        test<std::int64_t>(column, std::int64_t{1} << 40);
      }
    }
  }
  CHECK(!refuses<std::int32_t>({5, 7, 7}, 2, 0, 2));
  CHECK(refuses<std::int32_t>({5, 7, 7}, 1, 0, 2));   // behind the bytes
  CHECK(refuses<std::int32_t>({5, 4, 7}, 9, 0, 2));   // falls
  CHECK(refuses<std::int32_t>({-1, 4, 7}, 9, 0, 2));  // negative
  CHECK(refuses<std::int32_t>({0, 1}, 9, 0, 2));
  CHECK(refuses<std::int32_t>({}, 9, 0, 0));
  CHECK(refuses<std::int64_t>({0, 1, 2}, 9, 1, 2));
  CHECK(refuses<std::int64_t>({0, INT64_MAX}, 9, 0, 1));
  return tests::exit_code();
}
