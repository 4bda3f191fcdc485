// What one file contributes to the table, before it is ordered and laid out in columns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/formats/description.hpp"
#include "kernels/partial.hpp"

namespace fastdump {

struct TensorRow {
  TensorDescription tensor;
  // Empty: not asked for, or there is nothing to reduce.
  std::optional<kernels::Statistics> statistics;
};

struct FileRows {
  std::size_t file = 0;  // in the FileTree
  std::string op_name;   // from the header; empty: the name's stands
  std::string note;      // about the file as a whole
  // A file that gives no tensor is one row with this status; otherwise tensors have their own.
  Status status = Status::ok;
  std::vector<TensorRow> tensors;
};

}  // namespace fastdump
