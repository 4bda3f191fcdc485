#include "core/compare/comparison_table.hpp"

#include <cstddef>
#include <memory>
#include <utility>

#include "core/compare/metrics.hpp"

namespace fastdump {
namespace {

template <class Value>
struct ColumnOf;
template <>
struct ColumnOf<double> {
  using Type = Float64Column;
};
template <>
struct ColumnOf<std::int64_t> {
  using Type = Int64Column;
};
template <>
struct ColumnOf<std::uint64_t> {
  using Type = UInt64Column;
};
template <>
struct ColumnOf<bool> {
  using Type = BooleanColumn;
};

template <class C>
C* add_column(Table& table, const char* name) {
  auto owned = std::make_unique<C>();
  C* column = owned.get();
  table.columns.push_back({name, true, std::move(owned)});
  return column;
}

}  // namespace

Table make_table(const std::vector<PairResult>& results) {
  Table table;
  const auto declare = [&]<class Value>(const char* name, std::optional<Value>) {
    add_column<typename ColumnOf<Value>::Type>(table, name);
  };
  for_each_metric(std::nullopt, std::nullopt, declare);
  auto* status = add_column<TextColumn>(table, "status");
  auto* note = add_column<TextColumn>(table, "note");
  for (const PairResult& result : results) {
    std::size_t next = 0;
    const auto append = [&]<class Value>(const char*, std::optional<Value> value) {
      Column* column = table.columns[next++].column.get();
      static_cast<typename ColumnOf<Value>::Type*>(column)->append(value);
    };
    // What a comparison was stopped in the midst of is not told.
    if (result.is_done) {
      for_each_metric(result.statistics, result.divergence, append);
      status->append(to_string(result.status));
      note->append_or_null(result.note.text());
    } else {
      for_each_metric(std::nullopt, std::nullopt, append);
      status->append_null();
      note->append_null();
    }
    ++table.n_rows;
  }
  return table;
}

}  // namespace fastdump
