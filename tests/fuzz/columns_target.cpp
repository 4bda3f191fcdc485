// Columns that are appended to, made of runs of others, and cut: what they hold is what a list of
// optional values would, and what Arrow gets of them lies in their buffers.
#include <optional>

#include "choices.hpp"
#include "core/table/arrow.hpp"
#include "core/table/column.hpp"
#include "table_values.hpp"
#include "target.hpp"

namespace fastdump::fuzz {
namespace {

using Value = std::optional<std::int64_t>;
using Values = std::vector<Value>;

std::string text_of(std::int64_t value) {
  return std::string(static_cast<std::size_t>(value % 5), 'x') + std::to_string(value);
}

std::vector<std::int64_t> list_of(std::int64_t value) {
  return std::vector<std::int64_t>(static_cast<std::size_t>(value % 4), value);
}

void append(Int64Column& column, Value value) { column.append(value); }
void append(BooleanColumn& column, Value value) {
  column.append(value ? std::optional(*value % 2 != 0) : std::nullopt);
}
void append(TextColumn& column, Value value) {
  value ? column.append(text_of(*value)) : column.append_null();
}
void append(ListColumn& column, Value value) {
  value ? column.append(list_of(*value)) : column.append_null();
}

bool holds(const Int64Column&, const Table& table, std::size_t row, std::int64_t value) {
  return tests::value<std::int64_t>(table, "c", row) == value;
}
bool holds(const BooleanColumn&, const Table& table, std::size_t row, std::int64_t value) {
  return (tests::value<std::uint8_t>(table, "c", row / 8) >> row % 8 & 1) == value % 2;
}
bool holds(const TextColumn&, const Table& table, std::size_t row, std::int64_t value) {
  return tests::text(table, "c", row) == text_of(value);
}
bool holds(const ListColumn& column, const Table& table, std::size_t row, std::int64_t value) {
  const auto* items = static_cast<const std::int64_t*>(column.child()->buffers().at(1));
  const auto begin = tests::value<std::int32_t>(table, "c", row);
  const auto end = tests::value<std::int32_t>(table, "c", row + 1);
  return std::vector<std::int64_t>(items + begin, items + end) == list_of(value);
}

template <class C>
void check_column(std::unique_ptr<C> column, const Values& values) {
  const C& typed = *column;
  CHECK_EQ(static_cast<std::size_t>(column->size()), values.size());
  CHECK_EQ(column->n_null(), std::ranges::count(values, Value()));
  const auto table = std::make_shared<Table>();
  table->n_rows = column->size();
  table->columns.push_back({"c", true, std::move(column)});
  for (std::size_t row = 0; row < values.size(); ++row) {
    CHECK_EQ(tests::is_null(*table, "c", row), !values[row].has_value());
    if (values[row]) CHECK(holds(typed, *table, row, *values[row]));
  }
  ArrowSchema schema;
  ArrowArray array;
  export_schema(*table, schema);
  export_array(table, array);
  CHECK_EQ(array.length, table->n_rows);
  CHECK_EQ(array.n_children, 1);
  CHECK_EQ(array.children[0]->null_count, typed.n_null());
  schema.release(&schema);
  array.release(&array);
}

template <class C>
void check(Choices choices) {
  std::vector<std::unique_ptr<C>> columns;
  std::vector<const Column*> pointers;
  std::vector<Values> values(1 + choices.byte() % 4);
  for (Values& of_column : values) {
    pointers.push_back(columns.emplace_back(std::make_unique<C>()).get());
    for (int n = choices.byte() % 40; n > 0; --n) {
      const std::uint8_t byte = choices.byte();
      of_column.push_back(byte < 0x40 ? std::nullopt : Value(byte));
      append(*columns.back(), of_column.back());
    }
  }
  auto made = std::make_unique<C>();
  Values expected;
  while (!choices.at_end()) {
    const auto which = static_cast<std::uint32_t>(choices.byte() % values.size());
    const Values& from = values[which];
    const auto first = static_cast<std::uint32_t>(choices.up_to(from.size()));
    const auto n = static_cast<std::uint32_t>(choices.up_to(from.size() - first));
    const RowRun run{which, first, n};
    const std::uint8_t what = choices.byte();
    if (what < 0x20) made->reserve(expected.size() + what, what);
    made->append_runs(pointers, std::span(&run, 1));
    expected.insert(expected.end(), from.begin() + first, from.begin() + first + n);
    if (what >= 0x80 && what < 0xA0) {
      const std::size_t n_left = what % (expected.size() + 1);
      made->truncate(n_left);
      expected.resize(n_left);
    } else if (what >= 0xA0 && what < 0xC0) {
      append(*made, Value(what));
      expected.emplace_back(what);
    }
    if (expected.size() > 2000) break;
  }
  check_column(std::move(made), expected);
  for (std::size_t i = 0; i < columns.size(); ++i) check_column(std::move(columns[i]), values[i]);
}

// Text of any bytes becomes UTF-8, which is what it was if it is ASCII.
void check_text(std::string_view text) {
  TextColumn column;
  column.append(text);
  column.append_or_null(text, 2);
  const auto* bytes = static_cast<const char*>(column.buffers().at(2));
  const auto* offsets = static_cast<const std::int32_t*>(column.buffers().at(1));
  const std::string_view stored(bytes, static_cast<std::size_t>(offsets[1]));
  const bool is_ascii = std::ranges::all_of(text, [](char c) { return (c & 0x80) == 0; });
  if (is_ascii) CHECK_EQ(stored, text);
  CHECK(stored.size() <= text.size() * 4);
  CHECK_EQ(column.n_null(), text.empty() ? 2 : 0);
}

}  // namespace

void run(std::span<const std::byte> input) {
  Choices choices(input);
  check_text(Exact(input).text());
  switch (choices.byte() % 4) {
    case 0:
      return check<Int64Column>(choices);
    case 1:
      return check<BooleanColumn>(choices);
    case 2:
      return check<TextColumn>(choices);
    default:
      return check<ListColumn>(choices);
  }
}

std::vector<std::string> seeds() {
  std::vector<std::string> inputs;
  for (char kind = 0; kind < 4; ++kind) {
    std::string bytes;
    for (int i = 0; i < 120; ++i) bytes += static_cast<char>(i * 53 % 256);
    inputs.push_back(bytes + std::string{'\x14', '\2', kind});
    inputs.push_back("caf\xc3\xa9 \xff" + bytes + std::string{'\x21', '\1', kind});
  }
  return inputs;
}

}  // namespace fastdump::fuzz
