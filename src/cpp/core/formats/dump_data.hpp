// The protobuf message DumpData: what a dump says about its tensors. Decoding only; nothing here
// knows where payloads lie or whether the file holds them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/formats/description.hpp"
#include "core/formats/header_bytes.hpp"

namespace fastdump {

// Limits against hostile messages. A message beyond one is refused, but for texts, which are cut.
// Operators have some ten tensors of at most eight dimensions, and rarely some hundreds (fused
// optimizers, collectives, the outputs of a graph); a header has some KiB and one or two
// attributes. A header is all but the data of tensors, wherever these are.
inline constexpr std::uint64_t kMaxHeaderBytes = std::uint64_t{16} << 20;
inline constexpr std::size_t kMaxTensorsPerFile = 4096;  // with those of appended dumps
inline constexpr std::size_t kMaxDims = 64;
inline constexpr std::size_t kMaxAttrs = 256;
// Of a longer text the rest is cut off, and the header's note says so.
inline constexpr std::size_t kMaxNameNbytes = 4096;
inline constexpr std::size_t kMaxTextNbytes = std::size_t{1} << 20;  // values of attributes, logs
// The name of an operator is repeated for each of its tensors: it may take no more than this in
// all, but always as much as a file name may have.
inline constexpr std::size_t kMaxRepeatedNameNbytes = std::size_t{1} << 20;
inline constexpr std::size_t kMinNameNbytes = 255;

// Where a message keeps the bytes of its tensors.
enum class Payloads : std::uint8_t {
  behind,  // after the message (version 2): data within it are refused
  within,  // in the field `data` of each tensor (version 1), which tells nbytes and offset
};

// `message` begins at byte `offset` of the file and must be a DumpData from its first byte to its
// last, else FormatError. Sets everything in `description` that the message tells, in the order of
// the payloads (inputs, outputs, buffers, spaces), and leaves n_elements, status and notes, and the
// offset of payloads behind the message, as in a new description. Looks at no byte of the data, and
// once at any other. The memory of strings and vectors is reused.
void decode_dump_data(std::span<const std::byte> message, std::uint64_t offset, Payloads payloads,
                      FileDescription& description);

// Cuts the texts of a description that are longer than they may be. Apart from decoding, for what
// an attribute says of slices is needed whole.
void cut_texts(FileDescription& description);

// Decodes a file that is one message with its payloads within. All of it but the data is read.
void decode_dump_data(HeaderBytes& file, FileDescription& description);

// Whether the file may be one message, as far as its first bytes show: they are fields, of whatever
// number, and each ends within the file. Most files of other kinds fail here, without an exception.
bool may_be_dump_data(std::span<const std::byte> head, std::uint64_t file_nbytes);

}  // namespace fastdump
