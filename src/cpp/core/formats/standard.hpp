// The standard dump file (version 2): u64 header length, protobuf header, payloads back to back.
// Bytes in, description or FormatError out; no payload byte is looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/formats/description.hpp"
#include "core/formats/dump_data.hpp"

namespace fastdump {

// Bytes from the start of the file to the end of the header. `head` is the start of the file, at
// least min(12, file_size) bytes. Throws FormatError if this cannot be a standard file, and says
// so by name if it is another kind of dump.
std::uint64_t standard_header_end(std::span<const std::byte> head, std::uint64_t file_size);

// `head` is the start of the file, at least standard_header_end() bytes; `thread_id` is what its
// name tells, if it is an FFTS+ slice. Replaces `description` (reused between files to spare
// allocations); after a FormatError its content means nothing. Returns where the last payload ends.
std::uint64_t describe_standard(std::span<const std::byte> head, std::uint64_t file_size,
                                std::optional<std::int64_t> thread_id,
                                FileDescription& description);

}  // namespace fastdump
