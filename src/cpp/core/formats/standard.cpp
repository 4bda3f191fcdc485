#include "core/formats/standard.hpp"

#include <algorithm>
#include <string>

#include "core/errors.hpp"
#include "core/formats/dump_data.hpp"
#include "core/formats/payload.hpp"

namespace fastdump {
namespace {

constexpr std::size_t kLengthNbytes = 8;

std::uint64_t load_little_endian(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  }
  return value;
}

bool is_text(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte b) {
    const auto c = std::to_integer<unsigned char>(b);
    return (c >= ' ' && c <= '~') || c == '\t' || c == '\r' || c == '\n';
  });
}

// A DumpData message whose first field is a version "1...".
bool is_version_1(std::span<const std::byte> head) {
  return head[0] == std::byte{0x0A} && head[2] == std::byte{'1'} && head[3] == std::byte{'.'};
}

// As the first field of a DumpData, these marks would have numbers that it does not have.
void refuse_other_formats(std::span<const std::byte> head) {
  constexpr std::uint64_t kNanoMagic = 0x5A5A5A5A;
  if (head.size() >= 12 && load_little_endian(head.subspan(8, 4)) == kNanoMagic) {
    throw FormatError("nano (TLV) dump by its magic at byte 8, not a standard file", 8);
  }
  if (head.size() > 8 && head[8] == std::byte{'{'}) {
    throw FormatError("JSON header at byte 8, expected a protobuf message", 8);
  }
}

// Both read as lengths beyond the limit: the length says that something is wrong, this says what.
[[noreturn, gnu::cold]] void refuse_length(std::span<const std::byte> head, std::uint64_t length,
                                           const std::string& why) {
  std::string what = "header length " + std::to_string(length) + " at byte 0 " + why;
  if (is_text(head.first(kLengthNbytes))) what += ": the file begins with text";
  if (is_version_1(head)) what += ": the file begins like an inline (version 1) dump";
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
  refuse_other_formats(head);
  const std::uint64_t length = load_little_endian(head.first(kLengthNbytes));
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

void describe_standard(std::span<const std::byte> head, std::uint64_t file_size,
                       FileDescription& description) {
  const std::uint64_t end = standard_header_end(head, file_size);
  if (head.size() < end) {
    throw FormatError("the header ends at byte " + std::to_string(end) + ", only " +
                          std::to_string(head.size()) + " bytes could be read",
                      head.size());
  }
  const auto header = head.subspan(kLengthNbytes, end - kLengthNbytes);
  description.header_nbytes = header.size();
  decode_dump_data(header, kLengthNbytes, description);
  place_payloads(description, end, file_size);
}

}  // namespace fastdump
