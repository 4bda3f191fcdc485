#include "core/scan/row_limit.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>

#include "core/environment.hpp"

namespace fastdump {
namespace {

// Some thirty columns, most of them of 64-bit numbers.
constexpr std::uint64_t kNumbersOfRow = 256;

constexpr std::uint64_t kAssumedMemory = std::uint64_t{16} << 30;

std::uint64_t memory_nbytes() {
  const long n_pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_nbytes = ::sysconf(_SC_PAGESIZE);
  if (n_pages <= 0 || page_nbytes <= 0) return kAssumedMemory;
  return static_cast<std::uint64_t>(n_pages) * static_cast<std::uint64_t>(page_nbytes);
}

}  // namespace

std::uint64_t row_nbytes(const FileRows& rows) {
  const std::uint64_t n_rows = std::max<std::size_t>(rows.tensors.size(), 1);
  const FileName& name = rows.execution();
  const std::size_t op_name = std::max(rows.op_name.size(), name.op_name.size());
  std::uint64_t n = n_rows * (kNumbersOfRow + op_name + name.op_type.size());
  n += rows.note.text().size();
  for (const TensorRow& row : rows.tensors) {
    const TensorDescription& tensor = row.tensor;
    n += tensor.note.text().size() +
         sizeof(std::int64_t) * (tensor.shape.size() + tensor.origin_shape.size());
  }
  return n;
}

std::uint64_t max_row_nbytes() {
  const auto mib = number_in_environment("FASTDUMP_ROWS_MIB", 1, std::int64_t{1} << 40);
  return mib ? static_cast<std::uint64_t>(*mib) << 20 : memory_nbytes() / 4;
}

}  // namespace fastdump
