// The results of a comparison as columns.
#pragma once

#include <vector>

#include "core/compare/tensor_pair.hpp"
#include "core/table/table.hpp"

namespace fastdump {

// A row for each result, in their order: the metrics, status (null: not compared before the end),
// note.
Table make_table(const std::vector<PairResult>& results);

}  // namespace fastdump
