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

// Lines that should have given a tensor and gave none.
struct LostLines {
  Status status = Status::ok;  // malformed, or truncated if it is but the last; ok if there is none
  Note problem;                // what they are
};

// A table that is read line by line, so that no more of it than its text is in memory.
class StatisticsCsv {
 public:
  // The table, or why the text does not begin as one does. The text lies in `storage`, or in memory
  // that outlives the table.
  static std::variant<StatisticsCsv, Refusal> open(std::string_view text,
                                                   std::vector<std::byte> storage = {});
  StatisticsCsv(StatisticsCsv&&) noexcept;
  StatisticsCsv& operator=(StatisticsCsv&&) noexcept;
  ~StatisticsCsv();

  // The tensor of the next line that gives one. False at the end.
  bool next(ReportedTensor& tensor);
  // All of them, once next() was false.
  const LostLines& lost() const;

 private:
  class Lines;

  StatisticsCsv(std::vector<std::byte> storage, std::unique_ptr<Lines> lines);

  std::vector<std::byte> storage_;
  std::unique_ptr<Lines> lines_;
};

// Whether the text begins with a header line of such a file. `head` is the start of the file.
bool is_statistics_csv(std::span<const std::byte> head);

// What a table says, as a description of tensors that are not in the file: of the first ones, if it
// has more than kMaxTensorsPerFile, and the note says so.
FileDescription describe_statistics(StatisticsCsv csv, std::uint64_t file_nbytes);

}  // namespace fastdump
