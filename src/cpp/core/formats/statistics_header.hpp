// The header line of a statistics CSV: which column holds what, by name, in whatever order. Every
// writer of such files is known by it: CANN's, MindSpore's, msprobe's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/formats/csv_line.hpp"

namespace fastdump {

enum class StatisticsColumn : std::uint8_t {
  // What the tensor is and which operator's, in tables of many operators.
  op_type,
  op_name,
  task_id,
  stream_id,
  timestamp,
  io,
  index,
  nbytes,
  data_type,
  format,
  shape,
  // What was computed of its elements.
  count,
  max,
  min,
  mean,
  l2norm,
  nan,
  pos_inf,
  neg_inf,
  zero,
  // Hashes, and what nobody knows.
  other,
};

constexpr bool is_statistic(StatisticsColumn column) {
  return column >= StatisticsColumn::count && column <= StatisticsColumn::zero;
}

class StatisticsHeader {
 public:
  // Real headers have up to 23.
  static constexpr std::size_t kMaxColumns = 64;

  // Empty if the line is not such a header: it needs Input/Output or IO, Index or Slot, and Data
  // Type, and no known column may be there twice but Count.
  static std::optional<StatisticsHeader> parse(const CsvLine& line);

  std::size_t size() const { return size_; }
  StatisticsColumn operator[](std::size_t i) const { return columns_[i]; }
  std::span<const StatisticsColumn> columns() const { return std::span(columns_).first(size_); }
  bool has(StatisticsColumn column) const;
  // Of many operators, each row names its own.
  bool names_operators() const;

  // The column Count of a header of chosen statistics, which CANN's writer forgets in every row
  // once it has written a file of the default ones. If then NaN are counted its header has a
  // second Count, and the rows have that one only.
  std::optional<std::size_t> forgotten_count() const { return forgotten_count_; }
  bool has_second_count() const { return n_counts_ == 2; }

 private:
  std::array<StatisticsColumn, kMaxColumns> columns_ = {};
  std::size_t size_ = 0;
  std::size_t n_counts_ = 0;
  std::optional<std::size_t> forgotten_count_;
};

}  // namespace fastdump
