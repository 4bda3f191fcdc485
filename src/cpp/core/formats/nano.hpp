// The nano dump file of small devices: u64 head length, magic, version, TLV lists of inputs and of
// outputs, payloads back to back. Bytes in, description or FormatError out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/formats/description.hpp"

namespace fastdump {

// By the magic number behind the head length; `head` is the start of the file.
bool has_nano_magic(std::span<const std::byte> head);

// Bytes from the start of the file to the end of the TLV lists. `head` is the start of the file, at
// least 12 bytes with the magic. Throws FormatError if the file ends before.
std::uint64_t nano_header_end(std::span<const std::byte> head, std::uint64_t file_size);

// `head` is the start of the file, at least nano_header_end() bytes. Replaces `description`.
void describe_nano(std::span<const std::byte> head, std::uint64_t file_size,
                   FileDescription& description);

}  // namespace fastdump
