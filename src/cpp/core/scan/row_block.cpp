#include "core/scan/row_block.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/formats/layer_number.hpp"
#include "core/formats/tensor_format.hpp"

namespace fastdump {
namespace {

using kernels::Level;
using kernels::Number;
using kernels::NumberKind;
using kernels::Statistics;

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

void add_shape(ListColumn* column, const std::vector<std::int64_t>& shape, bool is_known) {
  if (is_known) {
    column->append(shape);
  } else {
    column->append_null();
  }
}

}  // namespace

RowBlock::RowBlock(const RowContent& content) : level_(content.level) {
  // In the order of the schema.
  declare("device", device_);
  declare("op_type", op_type_);
  declare("op_name", op_name_);
  declare("layer", layer_);
  declare("task_id", task_id_);
  declare("stream_id", stream_id_);
  declare("timestamp", timestamp_);
  declare("context_id", context_id_);
  declare("thread_id", thread_id_);
  declare("io", io_);
  declare("index", index_);
  declare("dtype", dtype_);
  declare("format", format_);
  declare("shape", shape_);
  declare("origin_shape", origin_shape_);
  declare("nbytes", nbytes_);
  declare("count", count_);
  declare("max", max_);
  declare("min", min_);
  declare("mean", mean_);
  declare("l2norm", l2norm_);
  declare("nan", nan_);
  declare("pos_inf", pos_inf_);
  declare("neg_inf", neg_inf_);
  if (level_ == Level::full) {
    declare("zero", zero_);
    declare("subnormal", subnormal_);
    declare("saturated", saturated_);
    declare("min_abs", min_abs_);
    declare("first_bad", first_bad_);
  }
  declare("status", status_, false);
  declare("note", note_);
  declare("offset", offset_);
  declare("source", source_, false);
  declare("state", state_);
  // Who asks for nothing but headers may ask where tensors lay.
  if (!level_) declare("address", address_);
  if (content.digests) {
    declare("digest_0", digest_[0]);
    declare("digest_1", digest_[1]);
  }
}

template <class C>
void RowBlock::declare(const char* name, C*& column, bool nullable) {
  auto owned = std::make_unique<C>();
  column = owned.get();
  table_.columns.push_back({name, nullable, std::move(owned)});
}

void RowBlock::add(const Where& where, const FileRows& rows) {
  try {
    append(where, rows);
  } catch (...) {
    for (NamedColumn& named : table_.columns) named.column->truncate(n_rows());
    throw;
  }
  table_.n_rows += static_cast<std::int64_t>(std::max<std::size_t>(rows.tensors.size(), 1));
}

Execution RowBlock::execution(std::size_t file, std::size_t row) const {
  return {file, (*timestamp_)[row], (*stream_id_)[row], (*task_id_)[row]};
}

void RowBlock::append(const Where& where, const FileRows& rows) {
  add_origin(where, rows, std::max<std::size_t>(rows.tensors.size(), 1));
  if (rows.tensors.empty()) {
    add_no_tensor();
    end_row(rows.status, rows.note.text(), std::nullopt);
    add_what_headers_tell(nullptr);
    return;
  }
  for (const TensorRow& row : rows.tensors) {
    Note note = row.tensor.note;
    add_tensor(row);
    add_statistics(row, note);
    // A truncated tensor's own note says already that the file ends early.
    if (row.tensor.status != Status::truncated) note.add(rows.note);
    const bool has_payload = rows.source == RowSource::tensor;
    end_row(row.tensor.status, note.text(),
            has_payload ? std::optional(to_int64(row.tensor.offset)) : std::nullopt);
    add_what_headers_tell(&row);
  }
}

// What all rows of a file have in common.
void RowBlock::add_origin(const Where& where, const FileRows& rows, std::size_t n) {
  const FileName& name = rows.execution();
  device_->append(where.device ? where.device : name.device, n);
  op_type_->append_or_null(name.op_type, n);
  const std::string& op_name = rows.op_name.empty() ? name.op_name : rows.op_name;
  op_name_->append_or_null(op_name, n);
  const std::optional<LayerNumber> layer = find_layer_number(op_name);
  layer_->append(layer ? std::optional(layer->number) : std::nullopt, n);
  task_id_->append(name.task_id, n);
  stream_id_->append(name.stream_id, n);
  timestamp_->append(name.timestamp, n);
  context_id_->append(name.context_id, n);
  thread_id_->append(name.thread_id, n);
  source_->append_or_null(rows.source == RowSource::csv ? "csv" : "tensor", n);
  state_->append(rows.state ? std::optional(static_cast<std::int64_t>(*rows.state)) : std::nullopt,
                 n);
}

void RowBlock::add_no_tensor() {
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

void RowBlock::add_tensor(const TensorRow& row) {
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
void RowBlock::add_format(std::int64_t number) {
  if (number < 0) {
    format_->append_null();
    return;
  }
  const std::string_view format = tensor_format_name(number);
  format_->append(format.empty() ? std::to_string(number) : format);
}

void RowBlock::add_no_statistics() {
  for (Float64Column* column : {max_, min_, mean_, l2norm_}) column->append(std::nullopt);
  for (Int64Column* column : {nan_, pos_inf_, neg_inf_}) column->append(std::nullopt);
  if (level_ != Level::full) return;
  for (Int64Column* column : {zero_, subnormal_, saturated_, first_bad_}) {
    column->append(std::nullopt);
  }
  min_abs_->append(std::nullopt);
}

void RowBlock::add_statistics(const TensorRow& row, Note& note) {
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
    note.add(rounding_note("max", statistics.max, kind));
    note.add(rounding_note("min", statistics.min, kind));
  }
  nan_->append(to_int64(statistics.nan));
  pos_inf_->append(to_int64(statistics.pos_inf));
  neg_inf_->append(to_int64(statistics.neg_inf));
  if (level_ != Level::full) return;
  zero_->append(to_int64(statistics.zero));
  subnormal_->append(to_int64(statistics.subnormal));
  saturated_->append(to_int64(statistics.saturated));
  min_abs_->append(statistics.has_nonzero() ? std::optional(statistics.min_abs) : std::nullopt);
  first_bad_->append(statistics.first_bad < 0 ? std::nullopt : std::optional(statistics.first_bad));
}

// All that the vendor offers, whatever the level: it costs nothing.
void RowBlock::add_reported(const ReportedStatistics& reported) {
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
  min_abs_->append(std::nullopt);
}

void RowBlock::end_row(Status status, std::string_view note, std::optional<std::int64_t> offset) {
  status_->append(to_string(status));
  note_->append_or_null(note);
  offset_->append(offset);
}

void RowBlock::add_what_headers_tell(const TensorRow* row) {
  using Number = std::optional<std::int64_t>;
  if (address_ != nullptr) {
    address_->append(row == nullptr ? Number() : static_cast<std::int64_t>(row->tensor.address));
  }
  if (digest_[0] == nullptr) return;
  for (std::size_t i = 0; i < digest_.size(); ++i) {
    const bool has_digest = row != nullptr && row->digest;
    digest_[i]->append(has_digest ? Number(to_int64((*row->digest)[i])) : Number());
  }
}

}  // namespace fastdump
