// The inline dump file (version 1): the whole file is one protobuf message, which holds the bytes
// of its tensors.
#pragma once

#include <cstddef>
#include <span>

#include "core/formats/description.hpp"

namespace fastdump {

// Whether the file begins as version 1 writers begin it. Without the mark it may still be one.
bool has_version_1_mark(std::span<const std::byte> head);

// `file` is the whole file; its payloads are not looked at. Throws FormatError if it is no such
// message from its first byte to its last, one without any tensor, or one that neither has the mark
// nor holds any data. Replaces `description`.
void describe_version_1(std::span<const std::byte> file, FileDescription& description);

}  // namespace fastdump
