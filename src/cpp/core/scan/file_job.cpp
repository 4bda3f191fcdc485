#include "core/scan/file_job.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "core/scan/logical_tensor.hpp"
#include "core/size.hpp"
#include "core/stream/stream_sizes.hpp"

namespace fastdump {
namespace {

bool is_to_be_reduced(const TensorRow& row) { return !row.statistics && is_reducible(row.tensor); }

// What is gathered lies anywhere in a tensor: that takes a mapping.
void keep_padding(FileRows& rows) {
  for (TensorRow& row : rows.tensors) {
    if (!row.is_gathered()) continue;
    row.logical.reset();
    note_padding(row.tensor, "the file cannot be mapped");
  }
}

std::vector<ReducedTensor> find_tensors(Source& source, FileRows& rows) {
  const bool gathers = std::ranges::any_of(rows.tensors, &TensorRow::is_gathered);
  if (gathers && source.map() != 0) keep_padding(rows);
  std::vector<ReducedTensor> tensors;
  for (const TensorRow& row : rows.tensors) {
    if (!is_to_be_reduced(row)) continue;
    tensors.push_back({row.tensor.dtype->element, row.tensor.offset, row.n_elements(),
                       row.is_gathered() ? row.logical : nullptr});
  }
  return tensors;
}

void note_missing(const Shortage& missing, TensorRow& row) {
  if (missing.n == 0) return;
  const std::string why = missing.error != 0 ? std::strerror(missing.error) : "the file ends early";
  row.tensor.status = missing.error != 0 ? Status::unreadable : Status::truncated;
  row.error = missing.error;
  row.tensor.note.add(why + ": " + std::to_string(missing.n) + " elements are missing");
}

}  // namespace

std::uint64_t nbytes_to_reduce(const FileRows& rows) {
  std::uint64_t sum = 0;
  for (const TensorRow& row : rows.tensors) {
    if (is_to_be_reduced(row)) {
      sum = add(sum, packed_nbytes(row.n_elements(), row.tensor.dtype->bits));
    }
  }
  return sum;
}

FileJob::FileJob(File file, std::uint64_t nbytes, FileRows rows, std::span<const std::byte> head,
                 Engine engine, EngineMeter& meter)
    : rows_(std::move(rows)),
      source_(std::make_shared<Source>(std::move(file), rows_.state.value(), nbytes, head)) {
  std::vector<ReducedTensor> tensors = find_tensors(*source_, rows_);
  reduction_.emplace(source_, std::move(tensors), engine, meter, stream_sizes().chunk_nbytes);
}

FileRows FileJob::finish() {
  if (const int problem = source_->check_state(); problem != 0) {
    set_uncertain(rows_, problem);
    return std::move(rows_);
  }
  std::size_t reduced = 0;
  for (TensorRow& row : rows_.tensors) {
    if (is_to_be_reduced(row)) {
      const Reduction::Result& result = reduction_->result(reduced++);
      row.statistics = result.statistics;
      note_missing(result.missing, row);
    }
    row.logical.reset();
  }
  return std::move(rows_);
}

}  // namespace fastdump
