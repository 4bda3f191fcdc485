// What one thread of a scan has found: rows in blocks, and which execution of an operator each row
// is of. Blocks are small, so that a column that grows is never copied far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "core/scan/row.hpp"
#include "core/scan/row_block.hpp"
#include "core/tree/walk.hpp"

namespace fastdump {

// Small, for there are many: what else is known of an execution, its rows tell.
struct ExecutionRows {
  std::size_t file = 0;  // in the FileTree
  std::uint32_t block = 0;
  std::uint32_t first = 0;  // row of the block
  std::uint32_t n = 0;      // at least 1
};

class FoundRows {
 public:
  explicit FoundRows(const RowContent& content) : content_(content) {}
  FoundRows(FoundRows&&) = default;
  FoundRows& operator=(FoundRows&&) = default;

  void add(const FileTree& tree, const FileRows& rows);
  // In the order in which they were added.
  const std::deque<ExecutionRows>& executions() const { return executions_; }
  std::vector<RowBlock>& blocks() { return blocks_; }

 private:
  RowContent content_;
  std::deque<ExecutionRows> executions_;
  std::vector<RowBlock> blocks_;
};

}  // namespace fastdump
