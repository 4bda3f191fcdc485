#include "core/scan/reported_rows.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

namespace fastdump {
namespace {

auto execution_of(const FileName& op) {
  return std::tie(op.op_type, op.op_name, op.task_id, op.stream_id, op.timestamp);
}

bool is_same_execution(const std::unique_ptr<FileName>& op,
                       const std::unique_ptr<const FileName>& other) {
  if (op == nullptr || other == nullptr) return op == nullptr && other == nullptr;
  return execution_of(*op) == execution_of(*other);
}

}  // namespace

bool ReportedRows::next(FileRows& rows) {
  std::optional<FileRows> found;
  ReportedTensor tensor;
  while (!found && !has_ended_) {
    has_ended_ = !csv_.next(tensor);
    if (has_ended_) break;
    has_tensor_ = true;
    const FileName& op = tensor.op == nullptr ? name_ : *tensor.op;
    if (selection_->has(tensor.tensor) && is_wanted(op)) found = add(std::move(tensor));
  }
  if (!found) found = end_execution();
  if (!found && !has_told_lost_) {
    has_told_lost_ = true;
    found = rows_without_tensor();
  }
  if (found) rows = *std::move(found);
  return found.has_value();
}

bool ReportedRows::is_wanted(const FileName& op) const {
  return selection_->has_op_type(op.op_type) && selection_->has_op_name(op.op_name, op.op_name);
}

// Returns the execution before, if the tensor is of another.
std::optional<FileRows> ReportedRows::add(ReportedTensor tensor) {
  const std::uint64_t place =
      std::uint64_t{tensor.tensor.index} << 8 | static_cast<std::uint64_t>(tensor.tensor.io);
  const bool is_same = execution_ && is_same_execution(tensor.op, execution_->op);
  std::optional<FileRows> ended;
  if (!is_same || !places_.insert(place).second) {
    ended = end_execution();
    places_ = {place};
    execution_ = begin();
    execution_->op = std::move(tensor.op);
    if (is_same) execution_->note.add("dumped more than once");
  }
  execution_->tensors.push_back(
      {.tensor = std::move(tensor.tensor),
       .reported = std::make_unique<ReportedStatistics>(tensor.statistics),
       .has_shape = tensor.has_shape,
       .has_nbytes = tensor.has_nbytes});
  return ended;
}

// Operators with many tensors are written in pieces.
std::optional<FileRows> ReportedRows::end_execution() {
  if (!execution_) return std::nullopt;
  std::ranges::stable_sort(execution_->tensors, {}, [](const TensorRow& row) {
    return std::pair(row.tensor.io, row.tensor.index);
  });
  return std::exchange(execution_, std::nullopt);
}

// What a lost line was about nobody knows, unless all lines are about one operator.
std::optional<FileRows> ReportedRows::rows_without_tensor() const {
  const LostLines& lost = csv_.lost();
  const bool is_of_one = !name_.op_type.empty() || !name_.op_name.empty();
  const bool has_lost = !lost.problem.empty() || !has_tensor_;
  if (!has_lost || (is_of_one && !is_wanted(name_))) return std::nullopt;
  FileRows rows = begin();
  rows.status = lost.status;
  rows.note = lost.problem.empty() ? Note("the table has no row") : lost.problem;
  return rows;
}

FileRows ReportedRows::begin() const {
  FileRows rows;
  rows.file = file_;
  rows.state = state_;
  rows.name = name_;
  rows.source = RowSource::csv;
  return rows;
}

}  // namespace fastdump
