// The standard dump file (version 2): u64 header length, protobuf header, payloads back to back,
// and perhaps the same again. Bytes in, description or FormatError out; no payload byte is looked
// at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "core/formats/description.hpp"
#include "core/formats/header_bytes.hpp"
#include "core/formats/refusal.hpp"

namespace fastdump {

// A writer that is given a name twice appends: one file may hold several dumps.
inline constexpr std::size_t kMaxAppended = 1024;

// The first bytes of a file that tell how long its header is.
inline constexpr std::size_t kMinHeadBytes = 12;

// How many bytes there are from the start of the file to the end of the header, or why this cannot
// be a standard file, with the name of its kind if it is another kind of dump. `head` is the start
// of the file, at least min(kMinHeadBytes, file_nbytes) bytes.
std::variant<std::uint64_t, Refusal> find_standard_header_end(std::span<const std::byte> head,
                                                              std::uint64_t file_nbytes);

// Replaces `description`, whose memory is reused; after a FormatError its content means nothing.
// `head` is the start of the file, at least as far as the header goes; `thread_id` is what the
// file's name tells, if the file is an FFTS+ slice. Returns where the last payload ends.
std::uint64_t describe_standard(std::span<const std::byte> head, std::uint64_t file_nbytes,
                                std::optional<std::int64_t> thread_id,
                                FileDescription& description);

// The same for a file with all that was appended to it: the first of `dumps` is the one that the
// file's name is about. `header` is the start of the file as far as the first header goes.
void describe_standard_file(std::span<const std::byte> header, HeaderBytes& file,
                            std::optional<std::int64_t> thread_id,
                            std::vector<FileDescription>& dumps);

}  // namespace fastdump
