// Inline (version 1) files: where in the message payloads lie, and what is no such message.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/dump_data.hpp"
#include "core/formats/version_1.hpp"
#include "invariants.hpp"
#include "mutations.hpp"
#include "standard_file.hpp"
#include "whole_file.hpp"

namespace fastdump {
namespace {

using namespace tests;

void describe_whole(const Head& head, FileDescription& description) {
  WholeFile file(head.span());
  describe_version_1(file, description);
}

FileDescription describe(std::string_view file) {
  const Head head(file);
  FileDescription description;
  describe_whole(head, description);
  return description;
}

FileDescription describe(const Message& message) { return describe(message.bytes()); }

Message inline_input(const Tensor& t, std::string_view data) {
  return Message().raw(input(t).bytes()).text(4, data);
}

Message inline_output(const Tensor& t, std::string_view data) {
  return Message().text(5, data).raw(output(t).bytes());  // before the other fields
}

Message inline_bytes(std::string_view data) { return Message().number(1, 0).text(2, data); }

const std::string kFirst(24, 'f');
const std::string kSecond(16, 's');

// A tensor of every kind; the output is written before the input.
Message full_message() {
  return Message()
      .text(1, "1.0")
      .number(2, 1700000000000000)
      .message(
          3,
          Message()
              .message(4, Message().text(1, "orig"))
              .raw(inline_output({.data_type = 7, .shape = {2, 2}, .size = 16}, kSecond).bytes()))
      .message(4, inline_input({.shape = {6}, .size = 24}, kFirst))
      .message(5, inline_bytes("buffer"))
      .text(6, "scope/op")
      .message(7, Message().text(1, "name").text(2, "value"))
      .message(8, inline_bytes("space"));
}

void test_what_a_file_says() {
  const std::string file = full_message().bytes();
  const FileDescription d = describe(file);
  CHECK(d.kind == FileKind::version_1);
  CHECK_EQ(d.version, "1.0");
  CHECK_EQ(d.dump_time, 1700000000000000U);
  CHECK_EQ(d.op_name, "scope/op");
  CHECK_EQ(d.attrs.at(0).second, "value");
  CHECK_EQ(d.note.text(), "");
  CHECK_EQ(d.header_nbytes, file.size() - 24 - 16 - 6 - 5);
  std::string found;
  for (const TensorDescription& t : d.tensors) {
    found += std::string(to_string(t.io)) + ":" + file.substr(t.offset, t.nbytes) + " ";
  }
  CHECK_EQ(found, "input:" + kFirst + " output:" + kSecond + " buffer:buffer space:space ");
  CHECK_TENSOR(d.tensors.at(0), ok, 6, "");
  CHECK_TENSOR(d.tensors.at(1), ok, 4, "");
  CHECK_EQ(d.original_ops.at(0).tensor, 1U);
  check_invariants(d, file.size());
}

void test_marks() {
  const auto has_mark = [](std::string_view head) { return has_version_1_mark(Head(head).span()); };
  CHECK(has_mark(full_message().bytes()));
  CHECK(has_mark(Message().text(1, "1.").bytes()));
  CHECK(has_mark(Message().text(1, "1.00").bytes()));
  CHECK(!has_mark(Message().text(1, "2.0").bytes()));
  CHECK(!has_mark(Message().text(6, "1.0").bytes()));
  for (std::size_t n = 0; n < 4; ++n) CHECK(!has_mark(full_message().bytes().substr(0, n)));
}

TensorDescription one(const Tensor& t, std::string_view data) {
  return describe(Message().text(1, "1.0").message(4, inline_input(t, data))).tensors.at(0);
}

void test_sizes_and_shapes() {
  const std::string twelve(12, 'x');
  CHECK_TENSOR(one({.shape = {3}, .size = 12}, twelve), ok, 3, "");
  CHECK_TENSOR(one({.shape = {3}, .size = 0}, twelve), ok, 3, "");  // old writers leave it out
  CHECK_TENSOR(one({.shape = {3}, .size = 99}, twelve), ok, 3, "holds 12 bytes and says 99");
  CHECK_TENSOR(one({.shape = {4}, .size = 16}, twelve), size_mismatch, 3,
               "holds 12 bytes and says 16; size 12 is less than the 16 bytes of shape 4");
  CHECK_TENSOR(one({.shape = {2}}, twelve), size_mismatch, 2,
               "size 12 is more than the 8 bytes of shape 2: the rest is ignored");
  CHECK_TENSOR(one({}, twelve), ok, 3, "no shape in the header: taken as one dimension");
  CHECK_TENSOR(one({}, "1234"), ok, 1, "");
  CHECK_TENSOR(one({.shape = {kMaxU64, 3}}, twelve), ok, 3, "unknown dimension: counted by size");
  CHECK_TENSOR(one({.shape = {4294967296, 4294967296}}, twelve), size_mismatch, 3,
               "shape 4294967296x4294967296 is larger than any file: counted by size");
  CHECK_TENSOR(one({.data_type = 99, .shape = {3}}, twelve), unsupported, 0,
               "unknown data type 99");
  CHECK_TENSOR(one({.shape = {0}}, ""), ok, 0, "");
  CHECK_TENSOR(one({.shape = {3}, .size = 12}, ""), size_mismatch, 0,
               "holds 0 bytes and says 12; size 0 is less than the 12 bytes of shape 3");
  // No address: but an inline dump leaves nothing out.
  CHECK_TENSOR(one({.shape = {3}, .size = 12, .address = 0}, twelve), ok, 3, "");
}

void test_the_last_data_win() {
  const Message twice =
      Message().text(4, "first").raw(inline_input({.shape = {1}}, "last").bytes());
  const std::string file = Message().message(4, twice).bytes();
  const FileDescription d = describe(file);
  CHECK_EQ(file.substr(d.tensors.at(0).offset, d.tensors.at(0).nbytes), "last");
  check_invariants(d, file.size());
}

void test_messages_that_are_no_dump() {
  const auto refused = [](const Message& message) {
    return error_of([&] { describe(message); }).has_value();
  };
  CHECK_REFUSED(describe(""), "inline message without a tensor", 0);
  CHECK_REFUSED(describe(Message().text(1, "1.0").text(6, "op")), "inline message without a tensor",
                0);
  CHECK(refused(Message().number(15, 1)));
  // As the header of a standard file is: its tensors say how large they are and hold nothing.
  CHECK_REFUSED(describe(two_inputs_and_output(1, 2, 3)), "inline message without data", 0);
  CHECK_REFUSED(describe(Message().message(3, Message())), "inline message without data", 0);
  CHECK(!refused(Message().text(1, "1.0").message(3, Message())));
  CHECK(!refused(Message().message(3, Message()).message(8, inline_bytes("x"))));
  // Not a message to its last byte.
  CHECK_REFUSED(describe(full_message().raw("\x22\x05")),
                "field 4 at byte " + std::to_string(full_message().bytes().size()) +
                    " needs 5 bytes, its message has 0",
                full_message().bytes().size());
}

// All but the data must be no more than a header may be: texts are copied, fields are walked over.
void test_limit_of_what_is_not_data() {
  const std::string large(kMaxHeaderBytes, 'x');
  const Message with_data =
      Message().message(4, inline_input({.shape = {kMaxHeaderBytes / 4}}, large));
  CHECK_EQ(describe(Message().raw(with_data.bytes()).raw(with_data.bytes())).tensors.size(), 2U);

  const auto refused = [&](const Message& rest, std::uint64_t offset) {
    const Message dump = Message().message(4, inline_input({.shape = {1}}, "data"));
    const std::uint64_t n = dump.bytes().size();
    CHECK_REFUSED(describe(Message().raw(dump.bytes()).raw(rest.bytes())),
                  "more than 16777216 bytes of header at byte " + std::to_string(n + offset) +
                      " (the limit of this reader)",
                  n + offset);
  };
  refused(Message().text(9, large), 0);
  refused(Message().text(6, large), 0);
  refused(Message().text(100, large), 0);
  refused(Message().message(7, Message().text(1, large)), 0);
  refused(Message().message(3, Message().text(100, large)), 5);
  refused(Message().message(3, Message().message(4, Message().text(1, large))), 5);
  refused(Message().message(5, Message().text(1, large)), 5);
  // Half of it here, half of it there, each with its own tag and length.
  const Message half = Message().text(100, large.substr(large.size() / 2));
  refused(Message().message(3, half).message(8, half), half.bytes().size() + 10);
  refused(Message().raw(half.bytes()).raw(half.bytes()), half.bytes().size());
  const std::string fields(kMaxHeaderBytes + 2, '\x78');  // of two bytes each
  CHECK(error_of([&] { describe(Message().raw(with_data.bytes()).raw(fields)); }));
  CHECK(error_of([&] { describe(Message().raw(with_data.bytes()).text(4, fields)); }));
}

void test_reused_description() {
  FileDescription reused;
  reused.kind = FileKind::npy;
  reused.fortran_order = true;
  reused.slices.emplace_back();
  reused.original_ops.emplace_back();
  reused.note = Note("left over");
  reused.tensors.resize(9);
  const Head head(Message().message(4, inline_input({.shape = {6}}, kFirst)).bytes());
  describe_whole(head, reused);
  CHECK(reused.kind == FileKind::version_1 && !reused.fortran_order);
  CHECK(reused.slices.empty() && reused.original_ops.empty() && reused.note.empty());
  CHECK_EQ(reused.tensors.size(), 1U);
}

void test_any_bytes() {
  const std::string file = full_message().bytes();
  int n_described = 0;
  FileDescription reused;
  const auto check = [&](std::string_view bytes) {
    const Head head(bytes);
    const auto described = [&]() -> const FileDescription& {
      describe_whole(head, reused);
      return reused;
    };
    n_described += check_described(described, bytes.size()) ? 1 : 0;
  };
  for_every_prefix(file, check);
  CHECK_EQ(n_described, 6);  // cut after the output and after each of the fields that follow it
  for_every_changed_byte(file, file.size(), check);
  for_many_changes(file, file.size(), 20000, check);
  CHECK(n_described > 1000);
}

}  // namespace
}  // namespace fastdump

int main() {
  using namespace fastdump;
  test_what_a_file_says();
  test_marks();
  test_sizes_and_shapes();
  test_the_last_data_win();
  test_messages_that_are_no_dump();
  test_limit_of_what_is_not_data();
  test_reused_description();
  test_any_bytes();
  return tests::exit_code();
}
