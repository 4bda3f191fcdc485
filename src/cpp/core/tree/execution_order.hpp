// The order of execution, in which every answer lists what was dumped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/tree/walk.hpp"

namespace fastdump {

// One execution of an operator, as names tell of it.
struct Execution {
  std::size_t file = 0;  // in the FileTree
  std::optional<std::int64_t> timestamp;
  std::optional<std::int64_t> stream_id;
  std::optional<std::int64_t> task_id;
};

// The numbers of `n` executions in order: where, then timestamp, stream, task, what is unknown
// last; the order of the walk breaks ties. `execution` tells of one, and is asked again where
// timestamps are equal.
std::vector<std::size_t> execution_order(
    const FileTree& tree, std::size_t n,
    const std::function<Execution(std::size_t number)>& execution);

}  // namespace fastdump
