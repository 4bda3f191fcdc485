// Which files of an index are as they were when an earlier table was made of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/concurrency/cpus.hpp"
#include "core/tree/index.hpp"

namespace fastdump {

// Rows of an earlier table, by columns.
struct EarlierRows {
  std::string_view paths;               // as rows show them, one behind the other
  std::span<const std::uint64_t> ends;  // of the path of each row in `paths`
  // Of the file of each row, FileState as a number. Zero stands for a state that nobody knows.
  std::span<const std::int64_t> states;

  std::string_view path(std::size_t row) const {
    const std::uint64_t begin = row == 0 ? 0 : ends[row - 1];
    return paths.substr(begin, ends[row] - begin);
  }
};

struct Unchanged {
  Index::Positions to_read;           // of those asked about: new files, and what may have changed
  std::vector<std::uint8_t> is_kept;  // by row: 1 where the file is there, and in the same state
};

// `shown` has what the rows show of each directory of the index, with a slash at its end; where it
// is empty, that is what rows of the index would show. Asks for the state of each file that rows
// tell of. A file that cannot be told from another by the path in its rows, and one whose name
// stands for another in mapping.csv, is always to be read. Rows of files in a directory that was
// not listed are kept. Ends soon, with a result that is to be
// thrown away, after `stop`.
Unchanged find_unchanged(const Index& index, Index::PositionsView positions,
                         const EarlierRows& earlier, const std::vector<std::string>& shown,
                         const Parallelism& parallelism, const std::atomic<bool>& stop);

}  // namespace fastdump
