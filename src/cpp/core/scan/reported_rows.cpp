#include "core/scan/reported_rows.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "core/formats/statistics_csv.hpp"

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

class RowBuilder {
 public:
  RowBuilder(std::size_t file, const FileName& name, const Selection& selection)
      : file_(file), name_(name), selection_(selection) {}

  std::vector<FileRows> run(StatisticsCsv csv) {
    for (ReportedTensor& tensor : csv.tensors) {
      const FileName& op = tensor.op == nullptr ? name_ : *tensor.op;
      if (selection_.has(tensor.tensor) && is_wanted(op)) add(std::move(tensor));
    }
    end_execution();
    // What a lost line was about nobody knows, unless all lines are about one operator.
    const bool is_of_one = !name_.op_type.empty() || !name_.op_name.empty();
    const bool has_lost = !csv.problem.empty() || csv.tensors.empty();
    if (has_lost && (!is_of_one || is_wanted(name_))) add_no_tensor(std::move(csv));
    return std::move(rows_);
  }

 private:
  bool is_wanted(const FileName& op) const {
    return selection_.has_op_type(op.op_type) && selection_.has_op_name(op.op_name, op.op_name);
  }

  void add(ReportedTensor tensor) {
    const std::uint64_t place =
        std::uint64_t{tensor.tensor.index} << 8 | static_cast<std::uint64_t>(tensor.tensor.io);
    const bool is_same = !rows_.empty() && is_same_execution(tensor.op, rows_.back().op);
    if (!is_same || !places_.insert(place).second) {
      end_execution();
      places_ = {place};
      begin().op = std::move(tensor.op);
      if (is_same) rows_.back().note.add("dumped more than once");
    }
    rows_.back().tensors.push_back(
        {.tensor = std::move(tensor.tensor),
         .reported = std::make_unique<ReportedStatistics>(tensor.statistics),
         .has_shape = tensor.has_shape,
         .has_nbytes = tensor.has_nbytes});
  }

  // Operators with many tensors are written in pieces.
  void end_execution() {
    if (rows_.empty()) return;
    std::ranges::stable_sort(rows_.back().tensors, {}, [](const TensorRow& row) {
      return std::pair(row.tensor.io, row.tensor.index);
    });
  }

  void add_no_tensor(StatisticsCsv csv) {
    FileRows& rows = begin();
    rows.status = csv.status;
    rows.note = csv.problem.empty() ? Note("the table has no row") : std::move(csv.problem);
  }

  FileRows& begin() {
    FileRows& rows = rows_.emplace_back();
    rows.file = file_;
    rows.name = name_;
    rows.source = RowSource::csv;
    return rows;
  }

  const std::size_t file_;
  const FileName& name_;
  const Selection& selection_;
  std::unordered_set<std::uint64_t> places_;  // of the tensors of the last execution
  std::vector<FileRows> rows_;
};

}  // namespace

std::vector<FileRows> reported_rows(std::size_t file, const FileName& name,
                                    const Selection& selection, StatisticsCsv csv) {
  return RowBuilder(file, name, selection).run(std::move(csv));
}

}  // namespace fastdump
