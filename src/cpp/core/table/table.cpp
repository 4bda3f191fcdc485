#include "core/table/table.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "core/formats/file_name.hpp"
#include "core/formats/tensor_format.hpp"
#include "core/scan/order.hpp"
#include "kernels/fp_environment.hpp"

namespace fastdump {
namespace {

using kernels::Level;
using kernels::Number;
using kernels::NumberKind;
using kernels::Statistics;

// What is known of the execution that the rows are of.
FileName name_of(const FileTree& tree, const FileRows& rows) {
  return rows.op == nullptr ? parse_file_name(tree.real_name(rows.file)) : *rows.op;
}

std::vector<Execution> executions_of(const Scan& scan) {
  std::vector<Execution> executions;
  executions.reserve(scan.rows().size());
  for (const FileRows& rows : scan.rows()) {
    const FileName name = name_of(scan.tree(), rows);
    executions.push_back({rows.file, name.timestamp, name.stream_id, name.task_id});
  }
  return executions;
}

// A declared size may be any 64-bit number.
std::int64_t to_int64(std::uint64_t value) {
  constexpr auto kMax = std::uint64_t{std::numeric_limits<std::int64_t>::max()};
  return static_cast<std::int64_t>(std::min(value, kMax));
}

double to_float64(Number number, NumberKind kind) {
  switch (kind) {
    case NumberKind::i64:
      return static_cast<double>(number.i64);
    case NumberKind::u64:
      return static_cast<double>(number.u64);
    case NumberKind::f64:
      break;
  }
  return number.f64;
}

// What to say of an integer that a float64 column rounds; empty if it does not.
std::string rounding_note(std::string_view name, Number number, NumberKind kind) {
  constexpr std::uint64_t kExact = std::uint64_t{1} << 53;
  std::string exact;
  if (kind == NumberKind::u64 && number.u64 > kExact) exact = std::to_string(number.u64);
  if (kind == NumberKind::i64 && (number.i64 > static_cast<std::int64_t>(kExact) ||
                                  number.i64 < -static_cast<std::int64_t>(kExact))) {
    exact = std::to_string(number.i64);
  }
  return exact.empty() ? exact : std::string(name) + " is exactly " + exact;
}

void add_note(std::string& note, std::string_view more) {
  if (more.empty()) return;
  if (!note.empty()) note += "; ";
  note += more;
}

class TableBuilder {
 public:
  explicit TableBuilder(std::optional<Level> level) : level_(level) {
    // In the order of the schema; each member is one of the table's columns.
    add("rank", rank_);
    add("time", time_);
    add("device", device_);
    add("model", model_);
    add("model_id", model_id_);
    add("step", step_);
    add("op_type", op_type_);
    add("op_name", op_name_);
    add("task_id", task_id_);
    add("stream_id", stream_id_);
    add("timestamp", timestamp_);
    add("context_id", context_id_);
    add("thread_id", thread_id_);
    add("io", io_);
    add("index", index_);
    add("dtype", dtype_);
    add("format", format_);
    add("shape", shape_);
    add("origin_shape", origin_shape_);
    add("nbytes", nbytes_);
    add("count", count_);
    add("max", max_);
    add("min", min_);
    add("mean", mean_);
    add("l2norm", l2norm_);
    add("nan", nan_);
    add("pos_inf", pos_inf_);
    add("neg_inf", neg_inf_);
    if (level_ == Level::full) {
      add("zero", zero_);
      add("subnormal", subnormal_);
      add("saturated", saturated_);
      add("first_bad", first_bad_);
    }
    add("status", status_, false);
    add("note", note_);
    add("path", path_, false);
    add("offset", offset_);
    add("source", source_, false);
  }

  void add_file(const FileTree& tree, const FileRows& rows) {
    const FileName name = name_of(tree, rows);
    const std::string path = tree.shown_path(rows.file);
    if (rows.tensors.empty()) {
      add_origin(tree.directory(rows.file).where, name, rows);
      add_no_tensor();
      end_row(rows.status, rows.note, path, std::nullopt, rows.source);
      return;
    }
    for (const TensorRow& row : rows.tensors) {
      add_origin(tree.directory(rows.file).where, name, rows);
      std::string note = row.tensor.note;
      add_tensor(row);
      add_statistics(row, note);
      // A truncated tensor's own note says already that the file ends early.
      if (row.tensor.status != Status::truncated) add_note(note, rows.note);
      const bool has_payload = rows.source == Source::tensor;
      end_row(row.tensor.status, note, path,
              has_payload ? std::optional(to_int64(row.tensor.offset)) : std::nullopt, rows.source);
    }
  }

  Table take() {
    table_.n_rows = n_rows_;
    return std::move(table_);
  }

 private:
  template <class C>
  void add(const char* name, C*& column, bool nullable = true) {
    auto owned = std::make_unique<C>();
    column = owned.get();
    table_.columns.push_back({name, nullable, std::move(owned)});
  }

  void add_origin(const Where& where, const FileName& name, const FileRows& rows) {
    rank_->append(where.rank);
    time_->append_or_null(where.time);
    device_->append(where.device ? where.device : name.device);
    model_->append_or_null(where.model);
    model_id_->append(where.model_id);
    step_->append(where.step);
    op_type_->append_or_null(name.op_type);
    op_name_->append_or_null(rows.op_name.empty() ? name.op_name : rows.op_name);
    task_id_->append(name.task_id);
    stream_id_->append(name.stream_id);
    timestamp_->append(name.timestamp);
    context_id_->append(name.context_id);
    thread_id_->append(name.thread_id);
  }

  void add_no_tensor() {
    io_->append_null();
    index_->append(std::nullopt);
    dtype_->append_null();
    format_->append_null();
    shape_->append_null();
    origin_shape_->append_null();
    nbytes_->append(std::nullopt);
    count_->append(std::nullopt);
    add_no_statistics();
  }

  void add_tensor(const TensorRow& row) {
    const TensorDescription& tensor = row.tensor;
    io_->append(to_string(tensor.io));
    index_->append(tensor.index);
    dtype_->append_or_null(tensor.dtype == nullptr ? "" : tensor.dtype->name);
    nbytes_->append(row.has_nbytes ? std::optional(to_int64(tensor.nbytes)) : std::nullopt);
    add_format(tensor.format);
    add_shape(shape_, tensor.shape, is_typed(tensor) && row.has_shape);
    // Statistics are reported of what is stored, and of nothing else.
    add_shape(origin_shape_, tensor.origin_shape, is_typed(tensor) && row.reported == nullptr);
  }

  // Buffers and spaces have none.
  void add_format(std::int64_t number) {
    if (number < 0) {
      format_->append_null();
      return;
    }
    const std::string_view format = tensor_format_name(number);
    format_->append(format.empty() ? std::to_string(number) : format);
  }

  static void add_shape(ListColumn* column, const std::vector<std::int64_t>& shape, bool is_known) {
    if (is_known) {
      column->append(shape);
    } else {
      column->append_null();
    }
  }

  void add_no_statistics() {
    for (Float64Column* column : {max_, min_, mean_, l2norm_}) column->append(std::nullopt);
    for (Int64Column* column : {nan_, pos_inf_, neg_inf_}) column->append(std::nullopt);
    if (level_ != Level::full) return;
    for (Int64Column* column : {zero_, subnormal_, saturated_, first_bad_}) {
      column->append(std::nullopt);
    }
  }

  void add_statistics(const TensorRow& row, std::string& note) {
    const TensorDescription& tensor = row.tensor;
    if (row.reported != nullptr) {
      add_reported(*row.reported);
      return;
    }
    if (!row.statistics) {
      count_->append(is_reducible(tensor) ? std::optional(to_int64(tensor.n_elements))
                                          : std::nullopt);
      add_no_statistics();
      return;
    }
    const Statistics& statistics = *row.statistics;
    const NumberKind kind = kernels::number_kind(tensor.dtype->element);
    count_->append(to_int64(statistics.count));
    const bool has_moments = level_ != Level::health && statistics.finite != 0;
    const auto moment = [&](double value) {
      return has_moments ? std::optional(value) : std::nullopt;
    };
    max_->append(has_moments ? std::optional(to_float64(statistics.max, kind)) : std::nullopt);
    min_->append(has_moments ? std::optional(to_float64(statistics.min, kind)) : std::nullopt);
    mean_->append(moment(statistics.mean));
    l2norm_->append(level_ != Level::health ? std::optional(statistics.l2norm) : std::nullopt);
    if (has_moments) {
      add_note(note, rounding_note("max", statistics.max, kind));
      add_note(note, rounding_note("min", statistics.min, kind));
    }
    nan_->append(to_int64(statistics.nan));
    pos_inf_->append(to_int64(statistics.pos_inf));
    neg_inf_->append(to_int64(statistics.neg_inf));
    if (level_ != Level::full) return;
    zero_->append(to_int64(statistics.zero));
    subnormal_->append(to_int64(statistics.subnormal));
    saturated_->append(to_int64(statistics.saturated));
    first_bad_->append(statistics.first_bad < 0 ? std::nullopt
                                                : std::optional(statistics.first_bad));
  }

  // All that the vendor offers, whatever the level: it costs nothing.
  void add_reported(const ReportedStatistics& reported) {
    const auto count_of = [](std::optional<std::uint64_t> number) {
      return number ? std::optional(to_int64(*number)) : std::nullopt;
    };
    count_->append(count_of(reported.count));
    if (!level_) {
      add_no_statistics();
      return;
    }
    max_->append(reported.max);
    min_->append(reported.min);
    mean_->append(reported.mean);
    l2norm_->append(reported.l2norm);
    nan_->append(count_of(reported.nan));
    pos_inf_->append(count_of(reported.pos_inf));
    neg_inf_->append(count_of(reported.neg_inf));
    if (level_ != Level::full) return;
    zero_->append(count_of(reported.zero));
    for (Int64Column* column : {subnormal_, saturated_, first_bad_}) column->append(std::nullopt);
  }

  void end_row(Status status, std::string_view note, std::string_view path,
               std::optional<std::int64_t> offset, Source source) {
    status_->append(to_string(status));
    note_->append_or_null(note);
    path_->append(path);
    offset_->append(offset);
    source_->append(source == Source::csv ? "csv" : "tensor");
    ++n_rows_;
  }

  const std::optional<Level> level_;
  Table table_;
  std::int64_t n_rows_ = 0;
  Int64Column *rank_, *device_, *model_id_, *step_;
  TextColumn *time_, *model_, *op_type_, *op_name_;
  Int64Column *task_id_, *stream_id_, *timestamp_, *context_id_, *thread_id_;
  TextColumn *io_, *dtype_, *format_;
  Int64Column *index_, *nbytes_, *count_;
  ListColumn *shape_, *origin_shape_;
  Float64Column *max_, *min_, *mean_, *l2norm_;
  Int64Column *nan_, *pos_inf_, *neg_inf_;
  Int64Column *zero_ = nullptr, *subnormal_ = nullptr, *saturated_ = nullptr, *first_bad_ = nullptr;
  TextColumn *status_, *note_, *path_, *source_;
  Int64Column* offset_;
};

}  // namespace

Table make_table(const Scan& scan) {
  const kernels::DefaultFpEnvironment environment;  // integers become float64
  TableBuilder builder(scan.level());
  for (const std::size_t i : execution_order(scan.tree(), executions_of(scan))) {
    builder.add_file(scan.tree(), scan.rows()[i]);
  }
  return builder.take();
}

}  // namespace fastdump
