#include "core/formats/statistics_header.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "core/formats/statistics_cell.hpp"

namespace fastdump {
namespace {

struct Name {
  std::string_view text;
  StatisticsColumn column;
};

// MindSpore's "Negative Zero Count" and "Positive Zero Count" are not here: they count the negative
// and the positive elements that are not zero.
constexpr Name kNames[] = {
    {"op type", StatisticsColumn::op_type},
    {"op name", StatisticsColumn::op_name},
    {"task id", StatisticsColumn::task_id},
    {"stream id", StatisticsColumn::stream_id},
    {"timestamp", StatisticsColumn::timestamp},
    {"input/output", StatisticsColumn::io},
    {"io", StatisticsColumn::io},
    {"index", StatisticsColumn::index},
    {"slot", StatisticsColumn::index},
    {"data size", StatisticsColumn::nbytes},
    {"data type", StatisticsColumn::data_type},
    {"format", StatisticsColumn::format},
    {"shape", StatisticsColumn::shape},
    {"count", StatisticsColumn::count},
    {"max value", StatisticsColumn::max},
    {"min value", StatisticsColumn::min},
    {"avg value", StatisticsColumn::mean},
    {"l2norm", StatisticsColumn::l2norm},
    {"l2norm value", StatisticsColumn::l2norm},
    {"nan count", StatisticsColumn::nan},
    {"positive inf count", StatisticsColumn::pos_inf},
    {"negative inf count", StatisticsColumn::neg_inf},
    {"zero count", StatisticsColumn::zero},
};

StatisticsColumn column_named(std::string_view text) {
  const auto* const found = std::ranges::find_if(
      kNames, [&](const Name& name) { return equals_ignoring_case(text, name.text); });
  return found == std::end(kNames) ? StatisticsColumn::other : found->column;
}

}  // namespace

std::optional<StatisticsHeader> StatisticsHeader::parse(const CsvLine& line) {
  StatisticsHeader header;
  const bool ends_with_comma = line.size() > 1 && line.is_empty(line.size() - 1);
  const std::size_t n = ends_with_comma ? line.size() - 1 : line.size();
  if (n > kMaxColumns) return std::nullopt;
  for (std::size_t i = 0; i < n; ++i) {
    const StatisticsColumn column = column_named(line[i]);
    const bool is_count = column == StatisticsColumn::count;
    if (is_count && ++header.n_counts_ > 2) return std::nullopt;
    if (!is_count && column != StatisticsColumn::other && header.has(column)) return std::nullopt;
    header.columns_[header.size_++] = column;
  }
  if (!header.has(StatisticsColumn::io) || !header.has(StatisticsColumn::index) ||
      !header.has(StatisticsColumn::data_type)) {
    return std::nullopt;
  }
  if (!header.names_operators()) {
    for (std::size_t i = 1; i < header.size_ && !header.forgotten_count_; ++i) {
      if (header[i] == StatisticsColumn::count && header[i - 1] == StatisticsColumn::shape) {
        header.forgotten_count_ = i;
      }
    }
  }
  if (header.n_counts_ == 2 && !header.forgotten_count_) return std::nullopt;
  return header;
}

bool StatisticsHeader::has(StatisticsColumn column) const {
  return std::ranges::find(columns(), column) != columns().end();
}

bool StatisticsHeader::names_operators() const {
  return std::ranges::any_of(
      columns(), [](StatisticsColumn column) { return column <= StatisticsColumn::timestamp; });
}

}  // namespace fastdump
