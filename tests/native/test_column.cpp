// Columns made of runs of others hold what columns hold to which each value was appended.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check.hpp"
#include "core/table/column.hpp"
#include "core/table/zeros.hpp"
#include "table_values.hpp"

namespace fastdump {
namespace {

using namespace tests;

// How many of ten values are null.
constexpr unsigned kNullTenths[] = {0, 3, 10};

void append(Int64Column& column, std::optional<std::int64_t> value) { column.append(value); }

void append(BooleanColumn& column, std::optional<std::int64_t> value) {
  column.append(value ? std::optional(*value % 2 != 0) : std::nullopt);
}

void append(TextColumn& column, std::optional<std::int64_t> value) {
  if (value) {
    column.append(std::string(static_cast<std::size_t>(*value % 5), 'x') + std::to_string(*value));
  } else {
    column.append_null();
  }
}

void append(ListColumn& column, std::optional<std::int64_t> value) {
  if (value) {
    column.append(std::vector<std::int64_t>(static_cast<std::size_t>(*value % 4), *value));
  } else {
    column.append_null();
  }
}

// What a row of a column says, whatever its type.
std::string shown(const Table& table, std::size_t row) {
  if (is_null(table, "c", row)) return "null";
  const Column& c = column(table, "c");
  const std::string format = c.arrow_format();
  if (format == "l") return std::to_string(value<std::int64_t>(table, "c", row));
  if (format == "u" || format == "U") return std::string(text(table, "c", row));
  if (format == "b") return (value<std::uint8_t>(table, "c", row / 8) >> row % 8 & 1) ? "1" : "0";
  std::string list;
  const auto* items = static_cast<const std::int64_t*>(c.child()->buffers().at(1));
  const std::int64_t end = offset(table, "c", row + 1);
  for (std::int64_t i = offset(table, "c", row); i < end; ++i) {
    list += std::to_string(items[i]) + ",";
  }
  return list;
}

template <class C>
Table table_of(std::unique_ptr<C> column) {
  Table table;
  table.n_rows = column->size();
  table.columns.push_back({"c", true, std::move(column)});
  return table;
}

template <class C>
void test_runs() {
  std::mt19937 random(7);
  for (int round = 0; round < 30; ++round) {
    auto expected = std::make_unique<C>();
    auto made = std::make_unique<C>();
    std::int64_t n_null = 0;
    std::vector<std::unique_ptr<C>> sources;
    std::vector<const Column*> columns;
    std::vector<RowRun> runs;
    for (std::uint32_t part = 0; part < 12; ++part) {
      const unsigned null_tenths = kNullTenths[(round % 3 + random() % 2) % 3];
      C& source = *sources.emplace_back(std::make_unique<C>());
      columns.push_back(&source);
      std::vector<std::optional<std::int64_t>> values;
      const std::size_t n = random() % 90;
      for (std::size_t i = 0; i < n; ++i) {
        const bool null = random() % 10 < null_tenths;
        values.push_back(null ? std::nullopt : std::optional<std::int64_t>(random() % 1000));
        append(source, values.back());
      }
      for (std::size_t end = 0; end < n;) {
        const std::size_t first = end + random() % (n - end);
        end = first + random() % (n - first + 1);
        runs.push_back(
            {part, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end - first)});
        for (std::size_t i = first; i < end; ++i) {
          append(*expected, values[i]);
          n_null += values[i] ? 0 : 1;
        }
        if (end == first) break;
      }
    }
    made->append_runs(columns, std::span(runs).first(runs.size() / 2));
    made->reserve(1000, 1000);
    made->append_runs(columns, std::span(runs).subspan(runs.size() / 2));
    CHECK_EQ(made->n_parts(), expected->n_parts());
    CHECK_EQ(made->n_null(), n_null);
    CHECK_EQ(expected->n_null(), n_null);
    const Table a = table_of(std::move(expected));
    const Table b = table_of(std::move(made));
    CHECK_EQ(a.n_rows, b.n_rows);
    for (std::size_t row = 0; row < static_cast<std::size_t>(a.n_rows); ++row) {
      CHECK_EQ(shown(a, row), shown(b, row));
    }
  }
}

// Numbers that begin with any number of nulls and zeros, in one or in several columns that become
// one, and are cut off anywhere.
void test_numbers_after_zeros() {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::optional<double>> expected;
    Float64Column made;
    for (std::size_t part = 0; part < 6; ++part) {
      const std::size_t n = random() % 40;
      // Of a number, a zero, a zero with a sign, and null.
      const unsigned kinds = std::max(1U, static_cast<unsigned>(random() % 16));
      Float64Column source;
      std::vector<std::optional<double>> values;
      for (std::size_t i = 0; i < n; ++i) {
        unsigned kind = random() % 4;
        while ((kinds >> kind & 1) == 0) kind = (kind + 1) % 4;
        const std::optional<double> any[] = {std::nullopt, 0.0, -0.0, 1.5};
        const std::size_t times = random() % 3;
        values.insert(values.end(), times, any[kind]);
        if (times == 1) {
          source.append(any[kind]);
        } else {
          source.append(any[kind], times);
        }
      }
      if (random() % 3 == 0) made.reserve(random() % 300, 0);
      const RowRun all = {0, 0, static_cast<std::uint32_t>(values.size())};
      const Column* const columns[] = {&source};
      made.append_runs(columns, std::span(&all, 1));
      expected.insert(expected.end(), values.begin(), values.end());
      if (random() % 4 == 0) {
        expected.resize(random() % (expected.size() + 1));
        made.truncate(expected.size());
      }
    }
    CHECK_EQ(static_cast<std::size_t>(made.size()), expected.size());
    const auto* values = static_cast<const double*>(made.buffers().at(1));
    const auto* bits = static_cast<const std::uint8_t*>(made.buffers().at(0));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CHECK_EQ(bits == nullptr || (bits[i / 8] >> i % 8 & 1) != 0, expected[i].has_value());
      const double value = expected[i].value_or(0.0);
      CHECK(values[i] == value && std::signbit(values[i]) == std::signbit(value));
      CHECK(made[i] == expected[i]);
    }
  }
}

// Whatever their number, nulls are shown by the zeros that all columns have.
void test_zeros_take_no_memory() {
  Int64Column nulls;
  Float64Column numbers;
  nulls.append(std::nullopt, std::size_t{1} << 20);
  numbers.append(0.0, std::size_t{1} << 19);
  const void* const shown = nulls.buffers().at(1);
  CHECK(shown == zeros(std::size_t{8} << 20));
  CHECK(shown == numbers.buffers().at(1));
  numbers.append(-0.0);
  CHECK(shown != numbers.buffers().at(1));
  const auto* words = static_cast<const std::int64_t*>(shown);
  CHECK(std::all_of(words, words + nulls.size(), [](std::int64_t word) { return word == 0; }));
  // More of them lie elsewhere, and those that were given stay.
  CHECK(zeros(std::size_t{64} << 20) != shown);
  CHECK(words[nulls.size() - 1] == 0);
}

void test_repeated_values() {
  for (std::size_t n_before = 0; n_before < 20; ++n_before) {
    auto numbers = std::make_unique<Int64Column>();
    auto texts = std::make_unique<TextColumn>();
    for (std::size_t i = 0; i < n_before; ++i) {
      numbers->append(static_cast<std::int64_t>(i));
      texts->append(std::to_string(i));
    }
    numbers->append(std::nullopt, 3);
    texts->append_or_null("", 3);
    numbers->append(-1, 11);
    texts->append_or_null("-1", 11);
    numbers->append(std::nullopt);
    texts->append_null();
    const Table a = table_of(std::move(numbers));
    const Table b = table_of(std::move(texts));
    CHECK_EQ(a.n_rows, static_cast<std::int64_t>(n_before + 15));
    for (std::size_t row = 0; row < n_before + 15; ++row) {
      const bool null = (row >= n_before && row < n_before + 3) || row == n_before + 14;
      const std::string number = row < n_before ? std::to_string(row) : "-1";
      CHECK_EQ(shown(a, row), null ? "null" : number);
      CHECK_EQ(shown(b, row), shown(a, row));
    }
  }
}

std::string text_of(const std::string& bytes) {
  auto column = std::make_unique<TextColumn>();
  column->append(bytes);
  return shown(table_of(std::move(column)), 0);
}

// Wherever it stands among ASCII, what is no UTF-8 is escaped and nothing else is.
void test_text() {
  const std::pair<std::string, std::string> texts[] = {
      {"\xc3\xa9", "\xc3\xa9"},
      {"\xe4\xb8\xad", "\xe4\xb8\xad"},
      {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
      {"\xff", "\\xff"},
      {"\xc0\x80", "\\xc0\\x80"},
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
      {"\xe4\xb8", "\\xe4\\xb8"},
  };
  for (std::size_t before = 0; before < 20; ++before) {
    for (std::size_t after = 0; after < 20; ++after) {
      const std::string left(before, 'a');
      const std::string right(after, 'b');
      CHECK_EQ(text_of(left + right), left + right);
      for (const auto& [bytes, expected] : texts) {
        CHECK_EQ(text_of(left + bytes + right), left + expected + right);
      }
    }
  }
}

// However few bits an offset has, the rows are the same: a column goes over to more when it has to,
// and a longer one is a source like any other.
template <class C>
void test_long_column() {
  constexpr std::size_t kRows = 200;
  constexpr std::size_t kMaxNarrow = 150;  // parts, which a third of the rows have
  const auto value_of = [](std::size_t i) {
    return i % 7 == 3 ? std::nullopt : std::optional(static_cast<std::int64_t>(i));
  };
  auto narrow = std::make_unique<C>();
  auto wide = std::make_unique<C>(kMaxNarrow);
  for (std::size_t i = 0; i < kRows; ++i) {
    append(*narrow, value_of(i));
    append(*wide, value_of(i));
    const bool is_wide = std::string_view(wide->arrow_format()) != C().arrow_format();
    CHECK_EQ(is_wide, wide->n_parts() > kMaxNarrow);
  }
  const auto runs_of = [](const C& source, std::size_t max_narrow) {
    auto made = std::make_unique<C>(max_narrow);
    const Column* const columns[] = {&source};
    const RowRun runs[] = {{0, 0, 50}, {0, 50, kRows - 50}};
    made->append_runs(columns, runs);
    return made;
  };
  auto reserved = std::make_unique<C>(kMaxNarrow);
  reserved->reserve(kRows, kMaxNarrow + 1);
  CHECK(std::string_view(reserved->arrow_format()) != C().arrow_format());
  auto cut = runs_of(*wide, kMaxNarrow);
  cut->truncate(10);
  for (std::size_t i = 10; i < kRows; ++i) append(*cut, value_of(i));

  std::vector<Table> tables;
  tables.push_back(table_of(runs_of(*wide, kMaxNarrow)));
  tables.push_back(table_of(runs_of(*wide, Offsets::kMaxNarrow)));
  tables.push_back(table_of(runs_of(*narrow, kMaxNarrow)));
  tables.push_back(table_of(std::move(cut)));
  tables.push_back(table_of(std::move(wide)));
  const Table expected = table_of(std::move(narrow));
  for (const Table& table : tables) {
    CHECK_EQ(table.n_rows, expected.n_rows);
    for (std::size_t row = 0; row < kRows; ++row) {
      CHECK_EQ(shown(table, row), shown(expected, row));
    }
  }
}

}  // namespace
}  // namespace fastdump

int main() {
  using namespace fastdump;
  test_runs<Int64Column>();
  test_runs<BooleanColumn>();
  test_runs<TextColumn>();
  test_runs<ListColumn>();
  test_numbers_after_zeros();
  test_zeros_take_no_memory();
  test_repeated_values();
  test_text();
  test_long_column<TextColumn>();
  test_long_column<ListColumn>();
  return tests::exit_code();
}
