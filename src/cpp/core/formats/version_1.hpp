// The inline dump file (version 1): the whole file is one protobuf message, which holds the bytes
// of its tensors.
#pragma once

#include <cstddef>
#include <span>

#include "core/formats/description.hpp"
#include "core/formats/header_bytes.hpp"

namespace fastdump {

// Whether the file begins as version 1 writers begin it. Without the mark it may still be one.
bool has_version_1_mark(std::span<const std::byte> head);

// Replaces `description`. Payloads are not looked at. Throws FormatError if the file is no such
// message from its first byte to its last, one without any tensor, or one that neither has the mark
// nor holds any data.
void describe_version_1(HeaderBytes& file, FileDescription& description);

}  // namespace fastdump
