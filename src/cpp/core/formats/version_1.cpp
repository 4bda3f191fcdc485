#include "core/formats/version_1.hpp"

#include "core/errors.hpp"
#include "core/formats/dump_data.hpp"
#include "core/formats/payload.hpp"

namespace fastdump {

bool has_version_1_mark(std::span<const std::byte> head) {
  // The field `version`, whatever its length, with a text that begins with "1.".
  return head.size() >= 4 && head[0] == std::byte{0x0A} && head[2] == std::byte{'1'} &&
         head[3] == std::byte{'.'};
}

void describe_version_1(std::span<const std::byte> file, FileDescription& description) {
  decode_dump_data(file, 0, Payloads::within, description);
  // Any message of unknown fields would do, the empty one too: without a tensor it is nobody's
  // dump.
  if (description.tensors.empty()) throw FormatError("inline message without a tensor", 0);
  description.kind = FileKind::version_1;
  description.fortran_order = false;
  description.header_nbytes = file.size();
  for (const TensorDescription& tensor : description.tensors) {
    description.header_nbytes -= tensor.nbytes;
  }
  // What is left of a standard file's header that was cut may be a message, too.
  if (description.header_nbytes == file.size() && !has_version_1_mark(file)) {
    throw FormatError("inline message without data", 0);
  }
  count_payloads(description);
}

}  // namespace fastdump
