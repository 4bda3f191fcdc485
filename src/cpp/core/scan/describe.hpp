// What an open file holds, by its content: the formats in the order in which they can be told
// apart. Reads headers and no payload; of statistics the whole table, whose tensors are absent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/formats/description.hpp"
#include "core/io/file.hpp"

namespace fastdump {

// A writer that is given a name twice appends: one file may hold several dumps.
inline constexpr std::size_t kMaxAppended = 1024;

// The first is the one that the file's name is about; those appended to it follow. `head` is the
// start of the file: at least min(12, size) bytes, and no more than `size`. `name` is what the file
// is called in truth. Replaces `dumps`, whose memory is reused between files; after an exception
// its content means nothing. Throws FormatError if the file is no dump, SystemError if it cannot be
// read.
void describe(const File& file, std::uint64_t size, std::span<const std::byte> head,
              const FileName& name, std::vector<FileDescription>& dumps);

}  // namespace fastdump
