// The one table of a scan: the rows that its threads have found, in the order of execution.
#pragma once

#include "core/scan/scan.hpp"
#include "core/table/table.hpp"

namespace fastdump {

// Of a scan that has ended, with no more threads than it had. Once: it takes the rows of the scan,
// so that little more than the table is in memory at any time.
Table make_table(Scan& scan);

}  // namespace fastdump
