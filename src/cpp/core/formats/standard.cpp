#include "core/formats/standard.hpp"

#include <algorithm>
#include <string>

#include "core/errors.hpp"
#include "core/formats/byte_cursor.hpp"
#include "core/formats/dump_data.hpp"
#include "core/formats/ffts_slices.hpp"
#include "core/formats/payload.hpp"

namespace fastdump {
namespace {

constexpr std::size_t kLengthNbytes = 8;

bool is_text(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte b) {
    const auto c = std::to_integer<unsigned char>(b);
    return (c >= ' ' && c <= '~') || c == '\t' || c == '\r' || c == '\n';
  });
}

// As the first field of a DumpData it would have a number that there is not.
void refuse_json(std::span<const std::byte> head) {
  if (head.size() > kLengthNbytes && head[kLengthNbytes] == std::byte{'{'}) {
    throw FormatError("JSON header at byte 8, expected a protobuf message", 8);
  }
}

// Text reads as a length beyond the limit: that says that something is wrong, this says what.
[[noreturn, gnu::cold]] void refuse_length(std::span<const std::byte> head, std::uint64_t length,
                                           const std::string& why) {
  std::string what = "header length " + std::to_string(length) + " at byte 0 " + why;
  if (is_text(head.first(kLengthNbytes))) what += ": the file begins with text";
  throw FormatError(what, 0);
}

}  // namespace

std::uint64_t standard_header_end(std::span<const std::byte> head, std::uint64_t file_size) {
  if (file_size == 0) throw FormatError("empty file, expected a header length at byte 0", 0);
  if (file_size < kLengthNbytes || head.size() < kLengthNbytes) {
    throw FormatError("the file ends after " + std::to_string(head.size()) +
                          " bytes, expected the eight bytes of a header length",
                      0);
  }
  refuse_json(head);
  const std::uint64_t length = ByteCursor::little_endian(head.first(kLengthNbytes));
  if (length == 0) throw FormatError("empty header: header length 0 at byte 0", 0);
  if (length > file_size - kLengthNbytes) {
    refuse_length(head, length,
                  "runs past the end of the file (" + std::to_string(file_size) + " bytes)");
  }
  if (length > kMaxHeaderBytes) {
    refuse_length(head, length,
                  "is more than the limit of " + std::to_string(kMaxHeaderBytes) + " bytes");
  }
  return kLengthNbytes + length;
}

std::uint64_t describe_standard(std::span<const std::byte> head, std::uint64_t file_size,
                                std::optional<std::int64_t> thread_id,
                                FileDescription& description) {
  const std::uint64_t end = standard_header_end(head, file_size);
  if (head.size() < end) {
    throw FormatError("the header ends at byte " + std::to_string(end) + ", only " +
                          std::to_string(head.size()) + " bytes could be read",
                      head.size());
  }
  const auto header = head.subspan(kLengthNbytes, end - kLengthNbytes);
  decode_dump_data(header, kLengthNbytes, Payloads::behind, description);
  description.kind = FileKind::standard;
  description.fortran_order = false;
  description.header_nbytes = header.size();
  if (thread_id) apply_ffts_slices(description, *thread_id);
  return place_payloads(description, end, file_size);
}

}  // namespace fastdump
