// How much memory the rows of a scan may take. Small files can tell of many tensors.
#pragma once

#include <cstdint>

#include "core/scan/row.hpp"

namespace fastdump {

// About what some rows take in a block.
std::uint64_t row_nbytes(const FileRows& rows);

// The limit for the rows of one scan: FASTDUMP_ROWS_MIB, or a quarter of the machine's memory, as
// the table has paths, too, and what is computed from it takes as much again. Throws
// std::invalid_argument if the variable is no number.
std::uint64_t max_row_nbytes();

}  // namespace fastdump
