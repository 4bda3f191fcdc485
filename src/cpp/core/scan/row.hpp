// What one file contributes to the table, before it is ordered and laid out in columns.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/formats/description.hpp"
#include "core/formats/statistics_csv.hpp"
#include "core/io/file_state.hpp"
#include "core/layout/logical_elements.hpp"
#include "core/note.hpp"
#include "core/reduce/digest.hpp"
#include "kernels/partial.hpp"

namespace fastdump {

struct TensorRow {
  TensorDescription tensor;
  // Empty: not asked for, or there is nothing to reduce.
  std::optional<kernels::Statistics> statistics = std::nullopt;
  // Of the payload; empty: not asked for, or it was not at hand.
  std::optional<Digest> digest = std::nullopt;
  int error = 0;  // errno of the read that failed, where the status is unreadable
  // In rows of source csv, else null. Apart, for a million rows of the other source have none.
  std::unique_ptr<ReportedStatistics> reported = nullptr;
  // What a header always tells, a statistics CSV may not.
  bool has_shape = true;
  bool has_nbytes = true;
  // What is reduced in place of all that is stored, until it is.
  std::shared_ptr<const LogicalElements> logical = nullptr;

  std::uint64_t n_elements() const { return logical ? logical->n_elements : tensor.n_elements; }
  bool is_gathered() const { return logical && !logical->layout.is_identity(); }
};

// Whether a person should look at it: its bytes are not all there, or among the elements are NaN or
// Inf. Where those were not counted, a moment that is NaN or Inf tells of them.
bool is_bad(const TensorRow& row);

enum class RowSource : std::uint8_t {
  tensor,  // computed from the elements
  csv,     // read from the vendor's statistics
};

struct FileRows {
  std::size_t file = 0;  // in the FileTree
  FileName name;         // what the file's name tells
  std::string op_name;   // from the header; empty: the name's stands
  Note note;             // about the file as a whole
  // A file that gives no tensor is one row with this status; otherwise tensors have their own.
  Status status = Status::ok;
  // What all that is said of the file is true of; empty: it could not be read as a whole.
  std::optional<FileState> state;
  RowSource source = RowSource::tensor;
  // Of a table of many operators, which is cut into one FileRows for each execution: what its rows
  // say instead of the file's name. Null: the name tells.
  std::unique_ptr<const FileName> op;
  std::vector<TensorRow> tensors;

  const FileName& execution() const { return op == nullptr ? name : *op; }
};

// Nothing else can be said of a file that did not stay as it was while it was read. `problem` is
// what File::check_state() gave: not 0.
void set_uncertain(FileRows& rows, int problem);

}  // namespace fastdump
