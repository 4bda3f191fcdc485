// What a file holds, by its content: the formats in the order in which they can be told apart.
// Reads headers and no payload; of statistics the whole table.
#pragma once

#include <variant>
#include <vector>

#include "core/formats/description.hpp"
#include "core/formats/header_bytes.hpp"
#include "core/formats/refusal.hpp"
#include "core/formats/statistics_csv.hpp"

namespace fastdump {

// Tensors whose elements lie in the file. The first dump is the one that the file's name is about;
// those appended to it follow.
struct DumpedTensors {
  std::vector<FileDescription> dumps;
};

// A file of no format is refused. A table has its text in memory of its own, or in the head.
using FileContent = std::variant<DumpedTensors, StatisticsCsv, Refusal>;

// Describes a file whose first bytes, at least min(kMinHeadBytes, file_nbytes) of them, are
// `file.head()`. `name` is what the file is called in truth. DumpedTensors::dumps is `reused`, with
// the memory that it had, and `reused` is empty then. Throws SystemError if the file cannot be
// read.
FileContent describe_content(HeaderBytes& file, const FileName& name,
                             std::vector<FileDescription>& reused);

}  // namespace fastdump
