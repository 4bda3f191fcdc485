#include "core/formats/statistics_csv.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "core/decimal.hpp"
#include "core/formats/csv_line.hpp"
#include "core/formats/dump_data.hpp"
#include "core/formats/statistics_cell.hpp"
#include "core/formats/statistics_header.hpp"

namespace fastdump {
namespace {

using Column = StatisticsColumn;

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

struct TextLine {
  std::string_view text;
  std::uint64_t number = 0;  // from 1
  std::uint64_t offset = 0;  // in the file
  bool has_end = false;      // else the file ends within it, or just without a line end
};

// The lines of a text that are not blank.
class TextLines {
 public:
  explicit TextLines(std::string_view text) : text_(text) {
    if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
  }

  bool next(TextLine& line) {
    while (at_ < text_.size()) {
      const std::size_t end = text_.find('\n', at_);
      line.text = text_.substr(at_, end - at_);
      line.number = ++number_;
      line.offset = at_;
      line.has_end = end != std::string_view::npos;
      at_ = line.has_end ? end + 1 : text_.size();
      if (!trimmed(line.text).empty()) return true;
    }
    return false;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::uint64_t number_ = 0;
};

bool split(const TextLine& line, CsvLine& cells) {
  return line.text.size() <= kMaxStatisticsLineBytes && cells.split(line.text);
}

// As the table's columns are called.
constexpr std::array<std::string_view, 20> kColumnNames = {
    "op_type", "op_name", "task_id", "stream_id", "timestamp", "io",   "index",
    "nbytes",  "dtype",   "format",  "shape",     "count",     "max",  "min",
    "mean",    "l2norm",  "nan",     "pos_inf",   "neg_inf",   "zero",
};
static_assert(kColumnNames.size() == static_cast<std::size_t>(Column::other));

std::string name_of(Column column) {
  return std::string(kColumnNames[static_cast<std::size_t>(column)]);
}

// What one line says of a tensor, cell by cell.
class Record {
 public:
  explicit Record(bool names_operator) {
    tensor_.tensor.data_type = -1;
    if (!names_operator) return;
    tensor_.op = std::make_unique<FileName>();
    tensor_.op->kind = NameKind::statistics;
  }

  // Sets what cell i of the line says. False if it is not what stands in such a column.
  bool set(Column column, const CsvLine& line, std::size_t i) {
    const std::string_view cell = line[i];
    ReportedStatistics& statistics = tensor_.statistics;
    switch (column) {
      case Column::op_type:
        tensor_.op->op_type = line.text(i);
        return true;
      case Column::op_name:
        tensor_.op->op_name = line.text(i);
        return true;
      case Column::task_id:
        return set_id(cell, tensor_.op->task_id);
      case Column::stream_id:
        return set_id(cell, tensor_.op->stream_id);
      case Column::timestamp:
        return set_id(cell, tensor_.op->timestamp);
      case Column::io:
        return set_io(cell);
      case Column::index:
        return set_index(cell);
      case Column::nbytes:
        return set_nbytes(cell);
      case Column::data_type:
        return set_data_type(cell);
      case Column::format:
        return set_format(cell);
      case Column::shape:
        return set_shape(cell);
      case Column::count:
        return set_count(cell, statistics.count);
      case Column::max:
        return set_real(column, cell, statistics.max);
      case Column::min:
        return set_real(column, cell, statistics.min);
      case Column::mean:
        return set_real(column, cell, statistics.mean);
      case Column::l2norm:
        return set_real(column, cell, statistics.l2norm);
      case Column::nan:
        return set_count(cell, statistics.nan);
      case Column::pos_inf:
        return set_count(cell, statistics.pos_inf);
      case Column::neg_inf:
        return set_count(cell, statistics.neg_inf);
      case Column::zero:
        return set_count(cell, statistics.zero);
      case Column::other:
        break;
    }
    return true;
  }

  bool has_place() const { return has_io_ && has_index_; }

  // What is malformed stays so.
  void set_status(Status status, const std::string& text) {
    if (tensor_.tensor.status != Status::malformed) tensor_.tensor.status = status;
    note(text);
  }
  void note(const std::string& text) { tensor_.tensor.note.add(text); }

  // What a cell of the wrong kind means for the row. A type or a format may be newer than this
  // reader; anything else is damage.
  void refuse(Column column, std::string_view cell) {
    if (column == Column::data_type || column == Column::format) {
      note(name_of(column) + " " + quoted(cell) + " is not known");
      return;
    }
    // One is enough: a hostile table must not grow by what is said of it.
    if (tensor_.tensor.status == Status::malformed) return;
    set_status(Status::malformed, name_of(column) + " cannot be " + quoted(cell));
  }

  ReportedTensor finish() { return std::move(tensor_); }

 private:
  bool set_io(std::string_view cell) {
    const bool is_input = equals_ignoring_case(cell, "input");
    tensor_.tensor.io = is_input ? Io::input : Io::output;
    has_io_ = is_input || equals_ignoring_case(cell, "output");
    return has_io_;
  }

  bool set_index(std::string_view cell) {
    const auto index = parse_unsigned(cell);
    has_index_ = index && *index <= std::numeric_limits<std::uint32_t>::max();
    if (has_index_) tensor_.tensor.index = static_cast<std::uint32_t>(*index);
    return has_index_;
  }

  bool set_nbytes(std::string_view cell) {
    const auto nbytes = parse_unsigned(cell);
    tensor_.has_nbytes = nbytes.has_value();
    tensor_.tensor.nbytes = nbytes.value_or(0);
    return nbytes || is_unreported(cell);
  }

  bool set_data_type(std::string_view cell) {
    const DataType* const dtype = parse_data_type(cell);
    tensor_.tensor.dtype = dtype;
    tensor_.tensor.data_type = dtype == nullptr ? -1 : dtype->number;
    return dtype != nullptr || is_unreported(cell);
  }

  bool set_format(std::string_view cell) {
    const auto format = parse_format(cell);
    tensor_.tensor.format = format.value_or(-1);
    return format || is_unreported(cell);
  }

  bool set_shape(std::string_view cell) {
    if (is_unreported(cell)) return true;
    auto shape = parse_shape(cell);
    if (!shape) return false;
    tensor_.has_shape = true;
    tensor_.tensor.shape = *std::move(shape);
    return true;
  }

  static bool set_id(std::string_view cell, std::optional<std::int64_t>& id) {
    id = parse_decimal(cell);
    return id || is_unreported(cell);
  }

  static bool set_count(std::string_view cell, std::optional<std::uint64_t>& count) {
    count = parse_unsigned(cell);
    return count || is_unreported(cell);
  }

  bool set_real(Column column, std::string_view cell, std::optional<double>& real) {
    real = parse_real(cell);
    if (!real) return is_unreported(cell);
    if (is_beyond_float64(cell, *real)) {
      note(name_of(column) + " is exactly " + std::string(cell));
    }
    return true;
  }

  ReportedTensor tensor_;
  bool has_io_ = false;
  bool has_index_ = false;
};

}  // namespace

class StatisticsCsv::Lines {
 public:
  explicit Lines(std::string_view text) : lines_(text) {}

  bool next(ReportedTensor& tensor) {
    while (!has_ended_ && lines_.next(line_)) {
      if (n_tensors_ == kMaxReportedTensors) {
        count_lost_line("is left out, and all that follows: it is one tensor more than " +
                        std::to_string(kMaxReportedTensors));
        break;
      }
      if (!split(line_, cells_)) {
        count_lost_line("is no row: it is too long, or a quote in it is not closed");
      } else if (read_record(tensor)) {
        ++n_tensors_;
        return true;
      } else if (!read_repeated_header()) {
        count_lost_line("is no row: it begins with " + quoted(trimmed(line_.text)));
      }
    }
    if (!has_ended_ && n_lost_ > 1) {
      lost_.problem.add(std::to_string(n_lost_) + " lines in all give no tensor");
    }
    has_ended_ = true;
    return false;
  }

  const LostLines& lost() const { return lost_; }

  std::optional<Refusal> read_header() {
    const bool is_empty = !lines_.next(line_);
    std::optional<StatisticsHeader> header;
    if (!is_empty && split(line_, cells_)) header = StatisticsHeader::parse(cells_);
    if (!header) {
      return Refusal{
          "the header at byte " + std::to_string(line_.offset) + " is " +
              quoted(is_empty ? "" : trimmed(line_.text)) +
              ", expected the columns of statistics: Input/Output or IO, Index or Slot, Data Type",
          line_.offset};
    }
    header_ = *header;
    if (!line_.has_end) count_lost_line("is cut");
    return std::nullopt;
  }

 private:
  // Writers that append to a file repeat the header; what is computed may have changed.
  bool read_repeated_header() {
    const auto header = StatisticsHeader::parse(cells_);
    if (!header || !line_.has_end) return false;
    header_ = *header;
    rows_end_with_comma_ = false;
    return true;
  }

  void count_lost_line(const std::string& problem) {
    const bool is_cut = !line_.has_end;
    if (lost_.status != Status::malformed) {
      lost_.status = is_cut ? Status::truncated : Status::malformed;
    }
    if (++n_lost_ != 1) return;
    lost_.problem.add("line " + std::to_string(line_.number) + ", at byte " +
                      std::to_string(line_.offset) + ", " +
                      (is_cut ? "is cut: the file ends within it" : problem));
  }

  // False if the line gives no tensor.
  bool read_record(ReportedTensor& tensor) {
    Record record(header_.names_operators());
    std::size_t n = cells_.size();
    // MindSpore ends every row with a comma. Where rows do, one without has a cell too few.
    const bool ends_with_comma = n > 1 && cells_.is_empty(n - 1);
    const bool has_comma_too_many = ends_with_comma && n == header_.size() + 1;
    const bool is_short = ends_with_comma && !has_comma_too_many && rows_end_with_comma_;
    if (has_comma_too_many || is_short) --n;
    const bool is_whole = n == header_.size() && (has_comma_too_many || !ends_with_comma);
    const bool is_cut = !line_.has_end && n <= header_.size() && !is_whole;

    if (is_cut) {
      if (!set_certain(record, n - 1)) return false;
      record.set_status(Status::truncated, "the file ends within line " +
                                               std::to_string(line_.number) +
                                               ": its statistics are left out");
    } else if (is_not_computed(n)) {
      set_not_computed(record, n);
    } else if (!fits(n)) {
      if (!set_certain(record, n)) return false;
      record.set_status(Status::malformed, misfit(n));
    } else {
      set_all(record, n);
      if (!line_.has_end && !ends_with_comma) {
        record.note("the file ends without a line end: the last value may be cut short");
      }
    }
    if (!record.has_place()) return false;
    rows_end_with_comma_ = rows_end_with_comma_ || has_comma_too_many;
    tensor = record.finish();
    return true;
  }

  // Whether it is clear which cell of a row of n is in which column.
  bool fits(std::size_t n) const {
    if (header_.forgotten_count() && n + 1 == header_.size()) return true;
    return n == header_.size() && !header_.has_second_count();
  }

  void set_all(Record& record, std::size_t n) {
    const bool lacks_count = n < header_.size();
    bool any_asked = false;
    bool any_reported = false;
    for (std::size_t i = 0; i < n; ++i) {
      const Column column = header_[lacks_count && i >= *header_.forgotten_count() ? i + 1 : i];
      set_cell(record, column, i);
      if (!is_statistic(column) || column == Column::count) continue;
      any_asked = true;
      any_reported = any_reported || !is_unreported(cells_[i]);
    }
    if (any_asked && !any_reported) record.set_status(Status::unsupported, kNotComputed);
  }

  // Of a tensor that the device cannot reduce CANN's writer says NA for each chosen statistic, and
  // leaves the count out or puts it among them, whatever its header says. So such a row is known by
  // its NA, and the one cell that is something else is the count.
  bool is_not_computed(std::size_t n) const {
    const auto first = header_.forgotten_count();
    if (!first || n > header_.size()) return false;
    std::size_t n_unreported = 0;
    for (std::size_t i = *first; i < n; ++i) n_unreported += is_unreported(cells_[i]) ? 1 : 0;
    return n_unreported != 0 && *first + n_unreported + 1 >= n;
  }

  void set_not_computed(Record& record, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      if (i < *header_.forgotten_count()) {
        set_cell(record, header_[i], i);
      } else if (!is_unreported(cells_[i])) {
        set_cell(record, Column::count, i);
      }
    }
    record.set_status(Status::unsupported, kNotComputed);
  }

  void set_cell(Record& record, Column column, std::size_t i) const {
    if (!record.set(column, cells_, i)) record.refuse(column, cells_[i]);
  }

  // Of a row with too few or too many cells: those up to the first that is not what its column
  // holds. A lone number can be a shape, and anything else too.
  bool set_certain(Record& record, std::size_t n) {
    n = std::min(n, header_.size());
    for (std::size_t i = 0; i < n && !is_statistic(header_[i]); ++i) {
      const bool is_doubtful = header_[i] == Column::shape && is_decimal(cells_[i]);
      if (is_doubtful || !record.set(header_[i], cells_, i)) break;
    }
    return record.has_place();
  }

  std::string misfit(std::size_t n) const {
    const std::string fields = n < CsvLine::kMaxCells ? std::to_string(n) : "too many";
    return "line " + std::to_string(line_.number) + " has " + fields + " fields, its header " +
           std::to_string(header_.size()) +
           ": which is which is not certain, its statistics are left out";
  }

  static constexpr const char* kNotComputed = "the device reports no statistics of it";

  TextLines lines_;
  TextLine line_;
  CsvLine cells_;
  StatisticsHeader header_;
  bool rows_end_with_comma_ = false;
  std::size_t n_tensors_ = 0;
  std::uint64_t n_lost_ = 0;
  LostLines lost_;
  bool has_ended_ = false;
};

bool is_statistics_csv(std::span<const std::byte> head) {
  // SAFETY: any object may be looked at as chars.
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  // A scan asks of every file: the length that a dump begins with has bytes that no text has.
  const auto is_binary = [](char c) { return static_cast<unsigned char>(c) < '\t'; };
  if (std::ranges::any_of(text.substr(0, sizeof(std::uint64_t)), is_binary)) return false;
  TextLines lines(text.substr(0, kMaxStatisticsLineBytes));
  TextLine line;
  CsvLine cells;
  return lines.next(line) && split(line, cells) && StatisticsHeader::parse(cells).has_value();
}

std::variant<StatisticsCsv, Refusal> StatisticsCsv::open(std::string_view text,
                                                         std::vector<std::byte> storage) {
  auto lines = std::make_unique<Lines>(text);
  if (auto refusal = lines->read_header()) return *std::move(refusal);
  return StatisticsCsv(std::move(storage), std::move(lines));
}

StatisticsCsv::StatisticsCsv(std::vector<std::byte> storage, std::unique_ptr<Lines> lines)
    : storage_(std::move(storage)), lines_(std::move(lines)) {}

StatisticsCsv::StatisticsCsv(StatisticsCsv&&) noexcept = default;
StatisticsCsv& StatisticsCsv::operator=(StatisticsCsv&&) noexcept = default;
StatisticsCsv::~StatisticsCsv() = default;

bool StatisticsCsv::next(ReportedTensor& tensor) { return lines_->next(tensor); }

const LostLines& StatisticsCsv::lost() const { return lines_->lost(); }

FileDescription describe_statistics(StatisticsCsv csv, std::uint64_t file_nbytes) {
  FileDescription description;
  description.kind = FileKind::statistics;
  description.version = "csv";
  description.header_nbytes = file_nbytes;
  std::size_t n_tensors = 0;
  for (ReportedTensor reported; csv.next(reported);) {
    if (++n_tensors > kMaxTensorsPerFile) continue;
    TensorDescription& tensor = description.tensors.emplace_back(std::move(reported.tensor));
    tensor.status = Status::absent;
    tensor.note = Note("only its statistics were dumped");
  }
  description.note = csv.lost().problem;
  if (n_tensors > kMaxTensorsPerFile) {
    description.note.add("of " + std::to_string(n_tensors) + " tensors the first " +
                         std::to_string(kMaxTensorsPerFile) + " are described");
  }
  return description;
}

}  // namespace fastdump
