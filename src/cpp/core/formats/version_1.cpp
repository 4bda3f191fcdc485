#include "core/formats/version_1.hpp"

#include <limits>

#include "core/errors.hpp"
#include "core/formats/dump_data.hpp"
#include "core/formats/payload.hpp"

namespace fastdump {
namespace {

// No protobuf message is larger.
constexpr std::uint64_t kMaxMessageBytes = std::numeric_limits<std::int32_t>::max();

void decode_message(HeaderBytes& file, FileDescription& description) {
  if (file.is_whole()) {
    decode_dump_data(file.head(), 0, Payloads::within, description);
    return;
  }
  if (file.file_nbytes() > kMaxMessageBytes) {
    throw FormatError("no message is larger than 2 GiB", 0);
  }
  decode_dump_data(file, description);
  // The data that end the message may be gone, although no byte was read that is.
  if (!file.has_all_bytes()) throw FormatError("the file shrank while it was read", 0);
}

}  // namespace

bool has_version_1_mark(std::span<const std::byte> head) {
  // The field `version`, whatever its length, with a text that begins with "1.".
  return head.size() >= 4 && head[0] == std::byte{0x0A} && head[2] == std::byte{'1'} &&
         head[3] == std::byte{'.'};
}

void describe_version_1(HeaderBytes& file, FileDescription& description) {
  decode_message(file, description);
  cut_texts(description);
  // Any message of unknown fields would do, the empty one too: without a tensor it is nobody's
  // dump.
  if (description.tensors.empty()) throw FormatError("inline message without a tensor", 0);
  description.kind = FileKind::version_1;
  description.fortran_order = false;
  description.header_nbytes = file.file_nbytes();
  for (const TensorDescription& tensor : description.tensors) {
    description.header_nbytes -= tensor.nbytes;
  }
  // What is left of a standard file's header that was cut may be a message, too.
  const bool has_data = description.header_nbytes != file.file_nbytes();
  if (!has_data && !has_version_1_mark(file.head())) {
    throw FormatError("inline message without data", 0);
  }
  count_payloads(description);
}

}  // namespace fastdump
