// The .npy file, into which converters turn tensors: magic, version, header length, a Python
// dictionary with type, order and shape, elements. Bytes in, description or FormatError out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/formats/description.hpp"

namespace fastdump {

bool has_npy_magic(std::span<const std::byte> head);

// Bytes from the start of the file to the first element. `head` is the start of the file, at least
// 12 bytes with the magic. Throws FormatError if the file ends before.
std::uint64_t npy_header_end(std::span<const std::byte> head, std::uint64_t file_size);

// `head` is the start of the file, at least npy_header_end() bytes. Replaces `description`, which
// gets one tensor, input 0: what else it is only the file's name can tell.
void describe_npy(std::span<const std::byte> head, std::uint64_t file_size,
                  FileDescription& description);

}  // namespace fastdump
