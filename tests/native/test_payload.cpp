// Where payloads lie, how many of their elements can be reduced, and what is said about the rest.

#include <cstdint>
#include <string>
#include <vector>

#include "core/dtype.hpp"
#include "core/formats/payload.hpp"
#include "standard_file.hpp"

namespace fastdump {
namespace {

using namespace tests;

void test_shape_and_size() {
  CHECK_TENSOR(describe({.shape = {3, 4}, .size = 48}), ok, 12, "");
  CHECK_TENSOR(describe({.shape = {2, 4}, .size = 48}), size_mismatch, 8,
               "size 48 is more than the 32 bytes of shape 2x4: the rest is ignored");
  CHECK_TENSOR(describe({.shape = {3, 4}, .size = 32}), size_mismatch, 8,
               "size 32 is less than the 48 bytes of shape 3x4");
  CHECK_TENSOR(describe({.shape = {3, 0, 4}, .size = 0}), ok, 0, "");
  CHECK_TENSOR(describe({.shape = {0}, .size = 1}), size_mismatch, 0,
               "size 1 is more than the 0 bytes of shape 0: the rest is ignored");
  CHECK_TENSOR(describe({.shape = {3, 4}, .size = 0}), size_mismatch, 0,
               "size 0 is less than the 48 bytes of shape 3x4");
  CHECK_TENSOR(describe({.data_type = 28, .shape = {3}, .size = 2}), ok, 3, "");
  CHECK_TENSOR(describe({.data_type = 28, .shape = {3}, .size = 1}), size_mismatch, 2,
               "size 1 is less than the 2 bytes of shape 3");
  CHECK_TENSOR(describe({.data_type = 29, .shape = {2, 8}, .size = 2}), ok, 16, "");
  CHECK_TENSOR(describe({.data_type = 29, .shape = {17}, .size = 3}), ok, 17, "");
}

void test_missing_shape() {
  const TensorDescription scalar = describe({.size = 4});
  CHECK_TENSOR(scalar, ok, 1, "");
  CHECK(scalar.shape.empty());
  const TensorDescription nothing = describe({.size = 0});
  CHECK_TENSOR(nothing, ok, 0, "");
  CHECK(nothing.shape == std::vector<std::int64_t>{0});
  const TensorDescription many = describe({.size = 48});
  CHECK_TENSOR(many, ok, 12, "no shape in the header: taken as one dimension");
  CHECK(many.shape == std::vector<std::int64_t>{12});
  CHECK_TENSOR(
      describe({.size = 10}), size_mismatch, 2,
      "no shape in the header: taken as one dimension; size 10 is not a multiple of 4 bytes");
  CHECK_TENSOR(describe({.size = 2}), size_mismatch, 0,
               "size 2 is less than the 4 bytes of a scalar");
  CHECK_TENSOR(describe({.data_type = 28, .size = 1}), ok, 1, "");
  CHECK_TENSOR(describe({.data_type = 28, .size = 2}), ok, 4,
               "no shape in the header: taken as one dimension");
  const TensorDescription huge = describe({.data_type = 29, .size = kMaxU64}, 1);
  CHECK(huge.shape == std::vector<std::int64_t>{INT64_MAX});
  CHECK_EQ(huge.n_elements, 8U);
}

void test_hostile_shapes() {
  CHECK_TENSOR(describe({.shape = {kMaxU64, 4}, .size = 48}), ok, 12,
               "unknown dimension: counted by size");
  CHECK_TENSOR(describe({.shape = {kMaxU64}, .size = 49}), size_mismatch, 12,
               "unknown dimension: counted by size; size 49 is not a multiple of 4 bytes");
  CHECK_EQ(describe({.shape = {kMaxU64, 4}, .size = 48}).shape.at(0), -1);
  CHECK_TENSOR(describe({.shape = {kMaxU64 - 1}, .size = 48}), size_mismatch, 12,
               "impossible dimension 18446744073709551614: counted by size");
  CHECK_TENSOR(describe({.shape = {std::uint64_t{1} << 63, 0}, .size = 8}), size_mismatch, 2,
               "impossible dimension 9223372036854775808: counted by size");
  CHECK_TENSOR(describe({.shape = {4294967296, 4294967296}, .size = 8}), size_mismatch, 2,
               "shape 4294967296x4294967296 is larger than any file: counted by size");
  CHECK_TENSOR(describe({.shape = {INT64_MAX}, .size = 8}), size_mismatch, 2,
               "shape 9223372036854775807 is larger than any file: counted by size");
  CHECK_TENSOR(describe({.shape = {INT64_MAX, INT64_MAX, 0}, .size = 0}), ok, 0, "");
}

void test_types_without_encoding() {
  CHECK_TENSOR(describe({.data_type = 99, .shape = {3, 4}, .size = 48}), unsupported, 0,
               "unknown data type 99");
  CHECK_TENSOR(describe({.data_type = kMaxU64, .size = 48}), unsupported, 0,
               "unknown data type -1");
  const TensorDescription float6 = describe({.data_type = 37, .shape = {4}, .size = 3});
  CHECK_TENSOR(float6, unsupported, 0, find_data_type(37)->caveat);
  CHECK_EQ(float6.dtype->bits, 6);
  CHECK(float6.shape == std::vector<std::int64_t>{4});
  CHECK_TENSOR(describe({.data_type = 13, .size = 48}, 20), truncated, 0,
               std::string(find_data_type(13)->caveat) + "; the file ends after 20 of 48 bytes");
}

void test_truncated_files() {
  const Message header = two_inputs_and_output(1, 2, 3);
  const auto cut = [&](std::uint64_t payload_nbytes) { return describe(header, payload_nbytes); };
  CHECK_EQ(cut(72).note.text(), "");
  CHECK_TENSOR(cut(72).tensors.at(2), ok, 4, "");
  CHECK_EQ(cut(71).note.text(), "the file is 1 byte shorter than its header says");
  CHECK_TENSOR(cut(71).tensors.at(2), truncated, 3, "the file ends after 15 of 16 bytes");
  CHECK_TENSOR(cut(56).tensors.at(1), ok, 2, "");
  CHECK_TENSOR(cut(56).tensors.at(2), truncated, 0, "the file ends before its 16 bytes");
  const FileDescription early = cut(22);
  CHECK_EQ(early.note.text(), "the file is 50 bytes shorter than its header says");
  CHECK_TENSOR(early.tensors.at(0), truncated, 5, "the file ends after 22 of 48 bytes");
  CHECK_TENSOR(early.tensors.at(1), truncated, 0, "the file ends before its 8 bytes");
  CHECK_TENSOR(cut(0).tensors.at(0), truncated, 0, "the file ends before its 48 bytes");

  CHECK_TENSOR(describe({.shape = {2, 4}, .size = 48}, 40), truncated, 8,
               "size 48 is more than the 32 bytes of shape 2x4: the rest is ignored; "
               "the file ends after 40 of 48 bytes");
  CHECK_TENSOR(describe({.data_type = 28, .shape = {9}, .size = 5}, 4), truncated, 8,
               "the file ends after 4 of 5 bytes");

  const FileDescription bytes = describe(Message().message(5, sized(10)).message(8, sized(6)), 12);
  CHECK_TENSOR(bytes.tensors.at(0), ok, 0, "");
  CHECK_TENSOR(bytes.tensors.at(1), truncated, 0, "the file ends after 2 of 6 bytes");
}

void test_skipped_payloads() {
  // The second input has no address, and its size is just what the file lacks.
  const FileDescription d = describe(two_inputs_and_output(1, 0, 3), 64);
  const std::uint64_t begin = d.header_nbytes + 8;
  CHECK_EQ(d.note.text(), "");
  CHECK_TENSOR(d.tensors.at(0), ok, 12, "");
  CHECK_TENSOR(d.tensors.at(1), absent, 0, "its bytes were never written (device address 0)");
  CHECK_TENSOR(d.tensors.at(2), ok, 4, "");
  CHECK_EQ(d.tensors.at(2).offset, begin + 48);

  // Not what the file lacks; or nobody has an address, so that it means nothing.
  CHECK(describe(two_inputs_and_output(1, 0, 3), 63).tensors.at(2).status == Status::truncated);
  CHECK(describe(two_inputs_and_output(1, 0, 3), 72).tensors.at(1).status == Status::ok);
  CHECK(describe(two_inputs_and_output(0, 0, 0), 40).tensors.at(0).status == Status::truncated);
  CHECK(describe(two_inputs_and_output(0, 0, 0), 0).tensors.at(0).status == Status::absent);

  // An empty tensor without an address is no explanation, and nothing of it is missing.
  const Message with_empty =
      two_inputs_and_output(1, 0, 3).message(4, input({.shape = {0}, .address = 0}));
  CHECK_TENSOR(describe(with_empty, 64).tensors.at(2), ok, 0, "");

  // Buffers have no addresses.
  const Message before_buffer = two_inputs_and_output(1, 2, 3).message(5, sized(10));
  CHECK(describe(before_buffer, 72).tensors.at(3).status == Status::truncated);
  const Message with_buffer = two_inputs_and_output(0, 0, 0).message(5, sized(10));
  CHECK(describe(with_buffer, 10).tensors.at(0).status == Status::truncated);
  CHECK(describe(with_buffer, 10).tensors.at(3).status == Status::truncated);
}

void test_trailing_bytes() {
  const FileDescription d = describe(two_inputs_and_output(1, 2, 3), 80);
  CHECK_EQ(d.note.text(), "8 trailing bytes after the last tensor (an appended dump?)");
  CHECK_TENSOR(d.tensors.at(2), ok, 4, "");
  CHECK_EQ(describe(Message().text(6, "op"), 0).note.text(), "");
  CHECK_EQ(describe(Message().text(6, "op"), 1).note.text(),
           "1 trailing byte after a header that describes no tensor");
}

void test_where_the_last_payload_ends() {
  const auto end = [](const Message& header, std::uint64_t payload_nbytes) {
    const Head head(with_length(header));
    FileDescription description;
    const std::uint64_t begin = head.span().size();
    return describe_standard(head.span(), begin + payload_nbytes, {}, description) - begin;
  };
  const Message header = two_inputs_and_output(1, 0, 3);
  CHECK_EQ(end(header, 72), 72U);
  CHECK_EQ(end(header, 100), 72U);
  CHECK_EQ(end(header, 71), 71U);  // with the file
  CHECK_EQ(end(header, 64), 64U);  // without what was skipped
  CHECK_EQ(end(header, 0), 0U);
  CHECK_EQ(end(Message().text(6, "op"), 9), 0U);
  CHECK_EQ(end(Message().message(4, input({.size = kMaxU64})).message(4, input({.size = 9})), 50),
           50U);

  const auto skippable = [](std::uint64_t first, std::uint64_t second, std::uint64_t third) {
    return skippable_nbytes(describe(two_inputs_and_output(first, second, third), 72));
  };
  CHECK_EQ(skippable(1, 2, 3), 0U);
  CHECK_EQ(skippable(1, 0, 3), 8U);
  CHECK_EQ(skippable(0, 2, 0), 64U);
  CHECK_EQ(skippable(0, 0, 0), 0U);
  const Message huge = Message()
                           .message(4, input({.size = kMaxU64, .address = 0}))
                           .message(4, input({.size = 9, .address = 0}))
                           .message(4, input({.size = 9}));
  CHECK_EQ(skippable_nbytes(describe(huge, 50)), 0U);
}

void test_hostile_sizes() {
  const FileDescription huge =
      describe(Message()
                   .message(4, input({.shape = {4}, .size = std::uint64_t{1} << 62}))
                   .message(4, input({.shape = {4}, .size = kMaxU64, .address = 0}))
                   .message(3, output({.shape = {4}, .size = 16})),
               40);
  CHECK_EQ(huge.note.text(), "the sizes in the header add up to more than 2^64 bytes");
  CHECK_EQ(huge.tensors.at(0).nbytes, std::uint64_t{1} << 62);
  CHECK_EQ(huge.tensors.at(0).n_elements, 4U);
  CHECK(huge.tensors.at(0).status == Status::truncated);
  CHECK_EQ(huge.tensors.at(1).n_elements, 0U);
  CHECK_EQ(huge.tensors.at(2).offset, kMaxU64);
  CHECK_EQ(huge.tensors.at(2).n_elements, 0U);
  CHECK(huge.tensors.at(2).status == Status::truncated);

  // Null addresses explain nothing if the sum of the sizes is beyond counting.
  const FileDescription wrapped =
      describe(Message()
                   .message(4, input({.shape = {4}, .size = kMaxU64, .address = 0}))
                   .message(3, output({.shape = {4}, .size = 16})),
               0);
  CHECK_EQ(wrapped.tensors.at(1).n_elements, 0U);
}

}  // namespace
}  // namespace fastdump

int main() {
  using namespace fastdump;
  test_shape_and_size();
  test_missing_shape();
  test_hostile_shapes();
  test_types_without_encoding();
  test_truncated_files();
  test_skipped_payloads();
  test_trailing_bytes();
  test_where_the_last_payload_ends();
  test_hostile_sizes();
  return tests::exit_code();
}
