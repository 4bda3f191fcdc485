// A statistics CSV as rows of the table: cut into executions of operators, and without what was not
// asked for.
#pragma once

#include <cstddef>
#include <vector>

#include "core/formats/description.hpp"
#include "core/formats/statistics_csv.hpp"
#include "core/scan/row.hpp"
#include "core/tree/selection.hpp"

namespace fastdump {

// `csv` is the content of the file, `name` its name parsed. Selection::may_hold() has been asked
// about the name; what it could not know is decided here. Rows of one execution are in the order of
// inputs and outputs, and executions in that of the file; a dump that was written to the file a
// second time is an execution of its own. Lines that give no tensor are one more element without
// tensors, which comes last. Empty if the selection rules out all.
std::vector<FileRows> reported_rows(std::size_t file, const FileName& name,
                                    const Selection& selection, StatisticsCsv csv);

}  // namespace fastdump
