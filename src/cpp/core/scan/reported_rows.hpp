// A statistics CSV as rows of the table: cut into executions of operators, and without what was not
// asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <utility>

#include "core/formats/description.hpp"
#include "core/formats/statistics_csv.hpp"
#include "core/io/file_state.hpp"
#include "core/scan/row.hpp"
#include "core/tree/selection.hpp"

namespace fastdump {

// Rows of one execution are in the order of inputs and outputs, and executions in that of the file;
// a dump that was written to the file a second time is an execution of its own. Lines that give no
// tensor are one more element without tensors, which comes last.
class ReportedRows {
 public:
  // `csv` is the content of the file in a state, `name` its name parsed. Selection::may_hold() has
  // been asked about the name; what it could not know is decided here. The selection outlives this.
  ReportedRows(std::size_t file, std::optional<FileState> state, FileName name,
               const Selection& selection, StatisticsCsv csv)
      : file_(file),
        state_(state),
        name_(std::move(name)),
        selection_(&selection),
        csv_(std::move(csv)) {}

  // The rows of the next execution. False if there is none.
  bool next(FileRows& rows);

 private:
  bool is_wanted(const FileName& op) const;
  std::optional<FileRows> add(ReportedTensor tensor);
  std::optional<FileRows> end_execution();
  std::optional<FileRows> rows_without_tensor() const;
  FileRows begin() const;

  std::size_t file_;
  std::optional<FileState> state_;
  FileName name_;
  const Selection* selection_;
  StatisticsCsv csv_;
  std::unordered_set<std::uint64_t> places_;  // of the tensors of the last execution
  std::optional<FileRows> execution_;         // the last one, as far as it was read
  bool has_tensor_ = false;                   // the table, selected or not
  bool has_ended_ = false;
  bool has_told_lost_ = false;
};

}  // namespace fastdump
