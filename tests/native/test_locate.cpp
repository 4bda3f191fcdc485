// From bytes to descriptions of standard files: the header's length, files of other formats, and
// what holds for any bytes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/formats/standard.hpp"
#include "invariants.hpp"
#include "mutations.hpp"
#include "standard_file.hpp"

namespace fastdump {
namespace {

using namespace tests;

void test_header_length() {
  const auto end = [](std::string_view head, std::uint64_t file_size) {
    return standard_header_end(Head(head).span(), file_size);
  };
  const auto length = [](std::uint64_t n) { return little_endian(n, 8) + "\x0a\x02op"; };
  CHECK_EQ(end(length(4), 12), 12U);
  CHECK_EQ(end(length(100), 108), 108U);
  CHECK_EQ(end(length(kMaxHeaderBytes), kMaxU64), kMaxHeaderBytes + 8);

  CHECK_REFUSED(end("", 0), "empty file, expected a header length at byte 0", 0);
  CHECK_REFUSED(end("\x0a\x01\x01", 3),
                "the file ends after 3 bytes, expected the eight bytes of a header length", 0);
  CHECK_REFUSED(end(length(0), 12), "empty header: header length 0 at byte 0", 0);
  CHECK_REFUSED(end(length(5), 12),
                "header length 5 at byte 0 runs past the end of the file (12 bytes)", 0);
  CHECK_REFUSED(
      end(length(72057594037927937U), 123),
      "header length 72057594037927937 at byte 0 runs past the end of the file (123 bytes)", 0);
  for (const std::uint64_t huge : {std::uint64_t{1} << 63, kMaxU64, kMaxU64 - 7}) {
    CHECK_REFUSED(end(length(huge), 12),
                  "header length " + std::to_string(huge) +
                      " at byte 0 runs past the end of the file (12 bytes)",
                  0);
    CHECK(error_of([&] { end(length(huge), kMaxU64); }).has_value());
  }
  CHECK_REFUSED(end(length(kMaxHeaderBytes + 1), kMaxU64),
                "header length 16777217 at byte 0 is more than the limit of 16777216 bytes", 0);
  CHECK_REFUSED(end(std::string(8, '\0'), 8), "empty header: header length 0 at byte 0", 0);
}

void test_other_formats_are_named() {
  const auto end = [](std::string_view head) {
    return standard_header_end(Head(head).span(), 123);
  };
  CHECK_REFUSED(end(little_endian(100, 8) + "{\"ve"),
                "JSON header at byte 8, expected a protobuf message", 8);
  CHECK_REFUSED(end("Input/Output"),
                "header length 8453027202830724681 at byte 0 runs past the end of the file "
                "(123 bytes): the file begins with text",
                0);
}

void test_header_shorter_than_promised() {
  const std::string file = with_length(Message().text(6, "op"));
  const Head head(std::string_view(file).substr(0, 10));
  FileDescription description;
  CHECK_REFUSED(describe_standard(head.span(), file.size(), {}, description),
                "the header ends at byte 12, only 10 bytes could be read", 10);
}

bool is_equal(const TensorDescription& a, const TensorDescription& b) {
  return a.io == b.io && a.index == b.index && a.data_type == b.data_type && a.dtype == b.dtype &&
         a.format == b.format && a.sub_format == b.sub_format && a.shape == b.shape &&
         a.origin_shape == b.origin_shape && a.nbytes == b.nbytes && a.address == b.address &&
         a.offset == b.offset && a.n_elements == b.n_elements && a.status == b.status &&
         a.note.text() == b.note.text();
}

bool is_equal(const FileDescription& a, const FileDescription& b) {
  return a.version == b.version && a.dump_time == b.dump_time && a.op_name == b.op_name &&
         a.dfx_message == b.dfx_message && a.attrs == b.attrs &&
         a.header_nbytes == b.header_nbytes && a.note.text() == b.note.text() &&
         std::ranges::equal(a.tensors, b.tensors,
                            [](const auto& x, const auto& y) { return is_equal(x, y); });
}

void test_reused_description() {
  const Message big = two_inputs_and_output(1, 2, 3)
                          .text(1, "2.0")
                          .text(6, "a")
                          .text(9, "dfx")
                          .number(2, 5)
                          .message(7, Message().text(1, "n").text(2, "v"));
  const Message small = Message().message(3, Message().number(6, 4)).message(7, Message());
  FileDescription reused;
  for (const Message* header : {&big, &small, &big, &big, &small}) {
    const Head head(with_length(*header));
    describe_standard(head.span(), head.span().size() + 7, {}, reused);
    CHECK(is_equal(reused, describe(*header, 7)));
  }
}

// `head` may end before the file does: it shrank after its size was taken.
void check_any_bytes(std::string_view head, std::uint64_t file_size, FileDescription& reused) {
  const Head bytes(head);
  const auto described = [&]() -> const FileDescription& {
    describe_standard(bytes.span(), file_size, {}, reused);
    return reused;
  };
  check_described(described, file_size);
}

void test_any_bytes() {
  std::string file = with_length(two_inputs_and_output(1, 0, 3)
                                     .text(6, "op")
                                     .message(5, sized(10))
                                     .message(8, sized(6))
                                     .message(7, Message().text(1, "n").text(2, "v")));
  const std::size_t header_end = file.size();
  file += std::string(72 + 16, '\x3c');
  FileDescription reused;
  for_every_prefix(file, [&](std::string_view bytes) {
    check_any_bytes(bytes, bytes.size(), reused);
    check_any_bytes(bytes, file.size(), reused);
  });
  const auto check_header = [&](std::string_view bytes) {
    check_any_bytes(bytes.substr(0, header_end), bytes.size(), reused);
  };
  for_every_changed_byte(file, header_end, check_header);
  for_many_changes(file, header_end, 20000, check_header);
}

}  // namespace
}  // namespace fastdump

int main() {
  using namespace fastdump;
  test_header_length();
  test_other_formats_are_named();
  test_header_shorter_than_promised();
  test_reused_description();
  test_any_bytes();
  return tests::exit_code();
}
