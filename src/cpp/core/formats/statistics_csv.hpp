// Statistics that the device's software wrote instead of the tensors: CANN's {dump}.csv, and the
// statistic.csv of MindSpore and msprobe. What the cells say is taken as it is; a row in which it
// is not certain which cell is which keeps what is certain and says so. No payload exists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/formats/description.hpp"
#include "core/formats/refusal.hpp"

namespace fastdump {

// Limits against hostile files; real ones are far below. A longer line gives no tensor, and what
// follows the last tensor is left out: both are told. A larger file should not be read at all.
inline constexpr std::uint64_t kMaxStatisticsBytes = std::uint64_t{256} << 20;
inline constexpr std::size_t kMaxStatisticsLineBytes = std::size_t{64} << 10;
inline constexpr std::size_t kMaxReportedTensors = std::size_t{1} << 20;

// Over all elements, NaN and Inf included, as the device computed and rounded them. Empty: not
// reported.
struct ReportedStatistics {
  std::optional<std::uint64_t> count;
  std::optional<double> max, min, mean, l2norm;
  std::optional<std::uint64_t> nan, pos_inf, neg_inf, zero;
};

struct ReportedTensor {
  // Of a table of many operators: what the row says instead of the file's name.
  std::unique_ptr<FileName> op;
  // `data_type` and `format` are -1 where they are not reported or not known. There are no elements
  // to reduce: n_elements and offset are 0.
  TensorDescription tensor;
  bool has_shape = false;
  bool has_nbytes = false;
  ReportedStatistics statistics;
};

struct StatisticsCsv {
  std::vector<ReportedTensor> tensors;  // in the order of the lines
  // Of the lines that should have given a tensor and gave none: malformed, or truncated if it is
  // but the last; and what they are. Else ok and empty.
  Status status = Status::ok;
  Note problem;
};

// Whether the text begins with a header line of such a file. `head` is the start of the file.
bool is_statistics_csv(std::span<const std::byte> head);

// The tensors of a table, or why the text does not begin as such a table does.
std::variant<StatisticsCsv, Refusal> read_statistics_csv(std::string_view text);

// What a table says, as a description of tensors that are not in the file.
FileDescription describe_statistics(StatisticsCsv csv, std::uint64_t file_nbytes);

}  // namespace fastdump
