// Rows in columns, in the order in which one thread finds them: what a file leaves behind is no
// more than what the table holds of it, and to make the table is to copy. Columns that only the
// file's place in the tree tells are left to that.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/scan/row.hpp"
#include "core/table/table.hpp"
#include "core/tree/execution_order.hpp"
#include "kernels/block.hpp"

namespace fastdump {

// What rows tell besides what all of them do.
struct RowContent {
  std::optional<kernels::Level> level;  // empty: no statistics, but what only headers tell
  bool digests = false;
};

class RowBlock {
 public:
  explicit RowBlock(const RowContent& content);

  // `where` is what the directory of the file tells. All rows are added, or none if it
  // throws.
  void add(const Where& where, const FileRows& rows);
  std::size_t n_rows() const { return static_cast<std::size_t>(table_.n_rows); }
  // The execution of an operator that a row is of; `file` is the row's in the FileTree.
  Execution execution(std::size_t file, std::size_t row) const;
  // Columns of the schema from "device" on, but for those of directories and paths; then "state",
  // without a level "address", the bits of an unsigned number, and the two parts of the digest.
  Table take() { return std::move(table_); }

 private:
  template <class C>
  void declare(const char* name, C*& column, bool nullable = true);
  void append(const Where& where, const FileRows& rows);
  void add_origin(const Where& where, const FileRows& rows, std::size_t n);
  void add_no_tensor();
  void add_tensor(const TensorRow& row);
  void add_format(std::int64_t number);
  void add_no_statistics();
  void add_statistics(const TensorRow& row, Note& note);
  void add_reported(const ReportedStatistics& reported);
  void end_row(Status status, std::string_view note, std::optional<std::int64_t> offset);
  // `row` is null for a file without a tensor.
  void add_what_headers_tell(const TensorRow* row);

  const std::optional<kernels::Level> level_;
  Table table_;
  // Each is one of the table's columns.
  Int64Column *device_, *layer_, *task_id_, *stream_id_, *timestamp_, *context_id_, *thread_id_;
  TextColumn *op_type_, *op_name_;
  TextColumn *io_, *dtype_, *format_;
  Int64Column *index_, *nbytes_, *count_;
  ListColumn *shape_, *origin_shape_;
  Float64Column *max_, *min_, *mean_, *l2norm_;
  Int64Column *nan_, *pos_inf_, *neg_inf_;
  Int64Column *zero_ = nullptr, *subnormal_ = nullptr, *saturated_ = nullptr, *first_bad_ = nullptr;
  Float64Column* min_abs_ = nullptr;
  TextColumn *status_, *note_, *source_;
  Int64Column *offset_, *state_, *address_ = nullptr;
  std::array<Int64Column*, 2> digest_ = {};
};

}  // namespace fastdump
