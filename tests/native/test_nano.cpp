// Nano (TLV) files: what they say, in which order, and when they are refused.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/dump_data.hpp"
#include "core/formats/nano.hpp"
#include "core/formats/standard.hpp"
#include "invariants.hpp"
#include "mutations.hpp"
#include "nano_file.hpp"

namespace fastdump {
namespace {

using namespace tests;

// From memory that ends where the header ends, whatever follows in `file`.
const FileDescription& describe(std::string_view file, std::uint64_t file_size,
                                FileDescription& description) {
  const Head head(file.substr(0, nano_header_end(Head(file).span(), file_size)));
  describe_nano(head.span(), file_size, description);
  return description;
}

FileDescription describe(std::string_view header, std::uint64_t payload_nbytes) {
  FileDescription description;
  return describe(header, header.size() + payload_nbytes, description);
}

void test_magic() {
  const std::string file = nano_file();
  const auto is_nano = [](std::string_view bytes) { return has_nano_magic(Head(bytes).span()); };
  CHECK(is_nano(file));
  CHECK(is_nano(file.substr(0, 12)));
  for (std::size_t n = 0; n < 12; ++n) CHECK(!is_nano(file.substr(0, n)));
  for (std::size_t i = 8; i < 12; ++i) {
    std::string other = file;
    other[i] ^= 1;
    CHECK(!is_nano(other));
  }
}

void test_what_a_file_says() {
  const std::string lists =
      nano_inputs(
          {nano_record({.data_type = 27, .shape = {}, .size = 12, .address = 7, .format = 0x20304},
                       false, tlv(1, dims({5, 6})) + tlv(0, dims({2, 3})))}) +
      nano_outputs(
          {nano_record({.data_type = 3, .size = 16, .output_index = 2, .original_format = 1}, true,
                       tlv(2, "scope/op\xff") + tlv(0, dims({4}))),
           nano_output({.data_type = 28, .shape = {3}, .size = 3})});
  const std::string header = nano_header(lists, 3);
  const FileDescription d = describe(header, 12 + 16 + 3);
  CHECK(d.kind == FileKind::nano);
  CHECK_EQ(d.version, "nano 3");
  CHECK_EQ(d.note.text(), "");
  CHECK_EQ(d.header_nbytes, header.size() - 8);
  CHECK_EQ(d.tensors.size(), 3U);

  const TensorDescription& in = d.tensors.at(0);
  CHECK(in.io == Io::input && in.index == 0);
  CHECK_EQ(in.data_type, 27);
  CHECK_EQ(in.dtype->name, "bfloat16");
  CHECK_EQ(in.format, 4);
  CHECK_EQ(in.sub_format, 0x203);
  CHECK_EQ(in.address, 7U);
  CHECK_EQ(in.offset, header.size());
  CHECK(in.shape == (std::vector<std::int64_t>{2, 3}));
  CHECK(in.origin_shape == (std::vector<std::int64_t>{5, 6}));
  CHECK_TENSOR(in, ok, 6, "");

  const TensorDescription& out = d.tensors.at(1);
  CHECK(out.io == Io::output && out.index == 0);
  CHECK_EQ(out.dtype->name, "int32");  // in the file's own numbering of types
  CHECK_EQ(out.offset, header.size() + 12);
  CHECK_TENSOR(out, ok, 4, "");
  CHECK_TENSOR(d.tensors.at(2), unsupported, 0, find_data_type(0)->caveat);
  CHECK_EQ(d.tensors.at(2).offset, header.size() + 28);

  CHECK_EQ(d.original_ops.size(), 1U);
  CHECK_EQ(d.original_ops.at(0).tensor, 1U);
  CHECK_EQ(d.original_ops.at(0).name, "scope/op\xff");
  CHECK_EQ(d.original_ops.at(0).output_index, 2U);
  CHECK_EQ(d.tensors.at(d.original_ops.at(0).tensor).original_format, 1);
}

void test_numbers_of_types() {
  const auto dtype_of = [](std::uint64_t number) {
    return describe(nano_header(nano_inputs({nano_input({.data_type = number, .size = 8})})), 8)
        .tensors.at(0)
        .dtype;
  };
  CHECK_EQ(dtype_of(0)->name, "float32");
  CHECK_EQ(dtype_of(11)->name, "float64");
  CHECK_EQ(dtype_of(12)->name, "bool");
  CHECK_EQ(dtype_of(29)->name, "int4");
  CHECK(dtype_of(5) == nullptr);  // a hole in the numbering
  CHECK(dtype_of(43) == nullptr);
  CHECK(dtype_of(0xFFFFFFFF) == nullptr);
}

void test_format_words() {
  const auto tensor = [](std::uint64_t format) {
    return describe(nano_header(nano_inputs({nano_input({.format = format})})), 0).tensors.at(0);
  };
  CHECK_EQ(tensor(0x104).format, 4);
  CHECK_EQ(tensor(0x104).sub_format, 1);
  CHECK_EQ(tensor(0x5ABCDEF4).sub_format, 0xBCDE);
  CHECK_EQ(tensor(0xFFFFFFFF).format, 255);
  const auto original = [](std::uint64_t format) {
    const auto record = nano_record({.original_format = format}, true, tlv(2, "op"));
    return describe(nano_header(nano_outputs({record})), 0).tensors.at(0).original_format;
  };
  CHECK_EQ(original(1), 1);
  CHECK_EQ(original(0x104), 4);
}

// The payloads of inputs come first, and several lists of a kind are one.
void test_order_of_lists() {
  const auto input = [](std::uint64_t n) { return nano_input({.shape = {n}, .size = 4 * n}); };
  const auto output = [](std::uint64_t n) {
    return nano_record({.shape = {}, .size = 4 * n}, true, tlv(0, dims({n})) + tlv(2, "op"));
  };
  const std::string header =
      nano_header(nano_outputs({output(1)}) + nano_inputs({input(2)}) + tlv(77, "later version") +
                  nano_outputs({output(3)}) + nano_inputs({input(4), input(5)}));
  const FileDescription d = describe(header, 60);
  std::string found;
  for (const TensorDescription& t : d.tensors) {
    found += std::string(to_string(t.io)) + " " + std::to_string(t.index) + " " +
             std::to_string(t.n_elements) + " " + std::to_string(t.offset - header.size()) + ", ";
  }
  CHECK_EQ(found, "input 0 2 0, input 1 4 8, input 2 5 24, output 0 1 44, output 1 3 48, ");
  CHECK_EQ(d.original_ops.at(0).tensor, 3U);
  CHECK_EQ(d.original_ops.at(1).tensor, 4U);
  check_invariants(d, header.size() + 60);
}

void test_payloads_that_are_not_as_declared() {
  const std::string header = nano_header(nano_inputs({nano_input({.shape = {3}, .size = 12})}) +
                                         nano_outputs({nano_output({.shape = {2}, .size = 8})}));
  const auto output = [&](std::uint64_t payload) {
    return describe(header, payload).tensors.at(1);
  };
  CHECK_TENSOR(output(20), ok, 2, "");
  CHECK_TENSOR(output(17), truncated, 1, "the file ends after 5 of 8 bytes");
  CHECK_TENSOR(output(0), truncated, 0, "the file ends before its 8 bytes");
  CHECK_EQ(describe(header, 23).note.text(),
           "3 trailing bytes after the last tensor (an appended dump?)");
  const auto size = [](std::uint64_t n) {
    const std::string one = nano_header(nano_inputs({nano_input({.shape = {2, 4}, .size = n})}));
    return describe(one, 48).tensors.at(0);
  };
  CHECK_TENSOR(size(48), size_mismatch, 8,
               "size 48 is more than the 32 bytes of shape 2x4: the rest is ignored");
  CHECK_TENSOR(size(kMaxU64), truncated, 8,
               "size 18446744073709551615 is more than the 32 bytes of shape 2x4: the rest is "
               "ignored; the file ends after 48 of 18446744073709551615 bytes");
}

void test_headers_that_are_refused() {
  const std::string head = little_endian(0x5A5A5A5A, 4) + little_endian(1, 4);
  const auto file = [&](std::string_view rest) {
    return little_endian(head.size() + rest.size(), 8) + head + std::string(rest);
  };
  CHECK_EQ(describe(file(""), 0).tensors.size(), 0U);
  CHECK_EQ(describe(file(""), 5).note.text(),
           "5 trailing bytes after a header that describes no tensor");
  CHECK_REFUSED(describe(little_endian(6, 8) + head.substr(0, 6), 0),
                "a version at byte 12 needs 4 bytes, there are 2", 12);
  CHECK_REFUSED(describe(little_endian(2, 8) + head.substr(0, 4), 0),
                "the magic number at byte 8 needs 4 bytes, there are 2", 8);
  CHECK_REFUSED(describe(file(little_endian(4, 4)), 0),
                "a length at byte 20 needs 4 bytes, there are 0", 20);
  CHECK_REFUSED(describe(file(little_endian(4, 4) + little_endian(5, 4) + "1234"), 0),
                "a list of tensors at byte 24 needs 5 bytes, there are 4", 24);
  CHECK_REFUSED(describe(file(tlv(4, "123")), 0),
                "a number of tensors at byte 24 needs 4 bytes, there are 3", 24);
  CHECK_REFUSED(describe(file(tlv(4, little_endian(kMaxU64, 4))), 0),
                "a data type at byte 28 needs 4 bytes, there are 0", 28);
  // One tensor must not take the bytes of the next, nor a detail those of the tensor.
  const std::string record = nano_input({.shape = {3}, .size = 12});
  const std::string two = little_endian(2, 4) + record;
  CHECK_REFUSED(describe(file(tlv(4, two) + nano_outputs({})), 0),
                "a data type at byte 84 needs 4 bytes, there are 0", 84);
  CHECK_REFUSED(describe(nano_header(nano_inputs({nano_record({}, false, tlv(0, "1234567"))})), 0),
                "a dimension at byte 76 needs 8 bytes, there are 7", 76);
  const std::string beyond = little_endian(0, 4) + little_endian(9, 4) + "12345678";
  CHECK_REFUSED(describe(nano_header(nano_inputs({nano_record({}, false, beyond)})), 0),
                "a tagged value at byte 76 needs 9 bytes, there are 8", 76);

  const auto length = [&](std::uint64_t n) { return little_endian(n, 8) + head; };
  CHECK_REFUSED(describe(length(9), 0),
                "nano (TLV) dump: head length 9 at byte 0 is not within 16 bytes", 0);
  CHECK_REFUSED(describe(length(kMaxU64), 0),
                "nano (TLV) dump: head length 18446744073709551615 at byte 0 is more than the "
                "limit of 16777216 bytes",
                0);
  CHECK_REFUSED(describe(length(kMaxHeaderBytes + 1), kMaxHeaderBytes),
                "nano (TLV) dump: head length 16777217 at byte 0 is more than the limit of "
                "16777216 bytes",
                0);
}

void test_limits() {
  const auto shape = [](std::size_t n) {
    return nano_header(
        nano_inputs({nano_input({.shape = std::vector<std::uint64_t>(n, 1), .size = 4})}));
  };
  CHECK_EQ(describe(shape(kMaxDims), 4).tensors.at(0).n_elements, 1U);
  CHECK_REFUSED(describe(shape(kMaxDims + 1), 4),
                "more than 64 dimensions at byte 588 (the limit of this reader)", 588);
  const auto many = [](std::size_t n_inputs, std::size_t n_outputs) {
    return nano_header(
        nano_inputs(std::vector<std::string>(n_inputs, nano_record({}, false, ""))) +
        nano_outputs(std::vector<std::string>(n_outputs, nano_record({}, true, ""))));
  };
  CHECK_EQ(describe(many(kMaxTensorsPerFile - 1, 1), 0).tensors.size(), kMaxTensorsPerFile);
  CHECK(error_of([&] { describe(many(kMaxTensorsPerFile + 1, 0), 0); }));
  CHECK(error_of([&] { describe(many(kMaxTensorsPerFile, 1), 0); }));
}

void test_reused_description() {
  FileDescription reused;
  reused.kind = FileKind::npy;
  reused.fortran_order = true;
  reused.op_name = "left over";
  reused.attrs.emplace_back("left", "over");
  reused.slices.emplace_back();
  const std::string file = nano_file();
  describe(file, file.size(), reused);
  CHECK(reused.kind == FileKind::nano && !reused.fortran_order);
  CHECK(reused.op_name.empty() && reused.attrs.empty() && reused.slices.empty());
  CHECK_EQ(reused.tensors.size(), 3U);
}

void test_any_bytes() {
  const std::string file = nano_file();
  const std::size_t header_nbytes = file.size() - 70;
  FileDescription reused;
  const auto check = [&](std::string_view bytes) {
    if (!has_nano_magic(Head(bytes).span())) return;
    const auto described = [&]() -> const FileDescription& {
      return describe(bytes, bytes.size(), reused);
    };
    check_described(described, bytes.size());
  };
  int n_described = 0;
  for_every_prefix(file, [&](std::string_view bytes) {
    check(bytes);
    FileDescription description;
    if (bytes.size() >= header_nbytes) describe(bytes, bytes.size(), description);
    n_described += description.tensors.empty() ? 0 : 1;
  });
  CHECK_EQ(n_described, 71);
  for_every_changed_byte(file, header_nbytes, check);
  for_many_changes(file, header_nbytes, 20000, check);
}

}  // namespace
}  // namespace fastdump

int main() {
  using namespace fastdump;
  test_magic();
  test_what_a_file_says();
  test_numbers_of_types();
  test_format_words();
  test_order_of_lists();
  test_payloads_that_are_not_as_declared();
  test_headers_that_are_refused();
  test_limits();
  test_reused_description();
  test_any_bytes();
  return tests::exit_code();
}
