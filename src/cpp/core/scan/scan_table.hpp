// The one table of a scan: the rows that its threads have found, in the order of execution.
#pragma once

#include "core/scan/scan.hpp"
#include "core/table/table.hpp"

namespace fastdump {

// Of a scan that has ended; with as many threads as it had.
Table make_table(const Scan& scan);

}  // namespace fastdump
