#include "core/scan/found_rows.hpp"

#include <algorithm>

namespace fastdump {
namespace {

// Columns of numbers then double up to 32 KiB.
constexpr std::size_t kBlockRows = 4096;

}  // namespace

void FoundRows::add(const FileTree& tree, const FileRows& rows) {
  const std::size_t n = std::max<std::size_t>(rows.tensors.size(), 1);
  if (blocks_.empty() || blocks_.back().n_rows() + n > kBlockRows) blocks_.emplace_back(content_);
  RowBlock& block = blocks_.back();
  const std::size_t first = block.n_rows();
  block.add(tree.directory(rows.file).where, rows);
  executions_.push_back({rows.file, static_cast<std::uint32_t>(blocks_.size() - 1),
                         static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(n)});
}

}  // namespace fastdump
