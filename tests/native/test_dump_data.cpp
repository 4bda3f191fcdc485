// The protobuf message of a header: what it says, when it is refused, and the limits of both. A
// message begins at byte 8 of its file.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/argument_kind.hpp"
#include "core/formats/dump_data.hpp"
#include "standard_file.hpp"

namespace fastdump {
namespace {

using namespace tests;

#define CHECK_REFUSED_MESSAGE(message, words, offset) \
  CHECK_REFUSED(describe(message, 0), words, offset)

void test_every_field_of_the_header() {
  const Message shape_in_pieces = Message().shape(3, {2}).shape(3, {3, 4});
  const Message header = Message()
                             .text(1, "2.0")
                             .number(2, 1700000000000000)
                             .message(3, output({.shape = {3, 4}, .size = 48}))
                             .message(3, Message()
                                             .number(1, 27)
                                             .number(2, 29)
                                             .raw(shape_in_pieces.bytes())
                                             .message(4, Message().text(1, "orig").number(3, 0))
                                             .number(6, 48)
                                             .shape(7, {24})
                                             .number(8, 7)
                                             .number(9, 99)
                                             .message(10, Message().number(1, 1).number(2, 9))
                                             .number(11, kMaxU64))
                             .message(4, input({.data_type = 8, .shape = {2}, .size = 16}))
                             .message(5, sized(10))
                             .text(6, "scope/op\xff")
                             .message(7, Message().text(1, "user_tag").text(2, "x"))
                             .message(7, Message())
                             .message(8, sized(6))
                             .text(9, "log\nline");
  const FileDescription d = describe(header, 48 + 48 + 16 + 10 + 6);
  CHECK_EQ(d.version, "2.0");
  CHECK_EQ(d.dump_time, 1700000000000000U);
  CHECK_EQ(d.op_name, "scope/op\xff");
  CHECK_EQ(d.dfx_message, "log\nline");
  CHECK_EQ(d.header_nbytes, header.bytes().size());
  CHECK_EQ(d.note.text(), "");
  CHECK_EQ(d.attrs.size(), 2U);
  CHECK_EQ(d.attrs.at(0).first, "user_tag");
  CHECK_EQ(d.attrs.at(0).second, "x");
  CHECK_EQ(d.attrs.at(1).first, "");

  // Inputs, outputs, buffers, spaces, whatever the order in the message.
  const std::uint64_t begin = header.bytes().size() + 8;
  CHECK_EQ(d.tensors.size(), 5U);
  const TensorDescription& in = d.tensors.at(0);
  CHECK(in.io == Io::input && in.index == 0);
  CHECK_EQ(in.offset, begin);
  CHECK_EQ(in.dtype->name, "int64");
  CHECK_EQ(in.n_elements, 2U);
  const TensorDescription& out1 = d.tensors.at(2);
  CHECK(d.tensors.at(1).io == Io::output && d.tensors.at(1).index == 0);
  CHECK(out1.io == Io::output && out1.index == 1);
  CHECK_EQ(out1.offset, begin + 16 + 48);
  CHECK_EQ(out1.data_type, 27);
  CHECK_EQ(out1.format, 29);
  CHECK_EQ(out1.sub_format, 7);
  CHECK_EQ(out1.address, 99U);
  CHECK(out1.shape == (std::vector<std::int64_t>{2, 3, 4}));
  CHECK(out1.origin_shape == std::vector<std::int64_t>{24});
  CHECK_EQ(out1.n_elements, 24U);
  const TensorDescription& buffer = d.tensors.at(3);
  CHECK(buffer.io == Io::buffer && buffer.dtype == nullptr && buffer.format == -1);
  CHECK_EQ(buffer.offset, begin + 16 + 48 + 48);
  CHECK_TENSOR(buffer, ok, 0, "");
  CHECK(d.tensors.at(4).io == Io::space && d.tensors.at(4).index == 0);
  CHECK_EQ(d.tensors.at(4).offset, begin + 16 + 48 + 48 + 10);
}

// Exception dumps: which argument of the kernel a tensor is.
void test_arguments() {
  const FileDescription d =
      describe(Message()
                   .message(4, Message().number(10, 7).number(11, 4).number(12, 99))
                   .message(4, Message())
                   // Of an output number 11 is another writer's offset.
                   .message(3, Message().number(10, 5).number(11, 98).number(12, 8))
                   .message(5, Message().number(10, 97))
                   .message(8, Message().number(4, 0x100000009)),
               0);
  std::string found;
  for (const TensorDescription& t : d.tensors) {
    found += std::to_string(t.arg_index) + " " + std::to_string(t.input_type) + ", ";
  }
  CHECK_EQ(found, "7 4, 0 0, 8 0, 0 0, 9 0, ");

  CHECK_EQ(argument_kind(1), "general");
  CHECK_EQ(argument_kind(4), "workspace");
  CHECK_EQ(argument_kind(7), "tiling data");
  CHECK_EQ(argument_kind(104), "SIMT stack");
  for (const std::uint32_t number : {0U, 13U, 100U, 105U, UINT32_MAX}) {
    CHECK_EQ(argument_kind(number), "");
  }
}

void test_original_operators() {
  const auto with_op = [](const Message& op) { return Message().message(4, op); };
  const FileDescription d = describe(
      Message()
          .message(3, Message())
          .message(3, with_op(Message().text(1, "a/b").number(2, 3).number(3, 9).number(4, 1)))
          .message(4, with_op(Message()))  // number 4 of an input is data: none here
          .message(3, with_op(Message()))
          .message(3, with_op(Message().text(1, "old").number(4, 29))
                          .raw(with_op(Message().text(1, "new")).bytes()))
          .message(3, with_op(Message().number(4, 0x104))),
      0);
  std::string found;
  for (const OriginalOp& op : d.original_ops) {
    found += std::to_string(op.tensor) + " '" + op.name + "' " + std::to_string(op.output_index) +
             " " + std::to_string(d.tensors.at(op.tensor).original_format) + ", ";
  }
  CHECK_EQ(found, "2 'a/b' 3 1, 3 '' 0 0, 4 'new' 0 29, 5 '' 0 4, ");
}

void test_protobuf_rules() {
  // The last of several values wins; absent ones are zero.
  const FileDescription twice =
      describe(Message().text(6, "a").text(6, "b").number(2, 1).number(2, 2).message(
                   3, Message().number(6, 4).number(6, 8)),
               8);
  CHECK_EQ(twice.op_name, "b");
  CHECK_EQ(twice.dump_time, 2U);
  CHECK_EQ(twice.version, "");
  CHECK_EQ(twice.tensors.at(0).nbytes, 8U);
  CHECK_EQ(twice.tensors.at(0).data_type, 0);
  CHECK_EQ(twice.tensors.at(0).format, 0);

  // Unpacked dimensions, and packed ones after them.
  const Message dims = Message().number(1, 3).number(1, 4).text(1, varint(300));
  const FileDescription unpacked = describe(Message().message(3, Message().message(3, dims)), 0);
  CHECK(unpacked.tensors.at(0).shape == (std::vector<std::int64_t>{3, 4, 300}));

  // Unknown fields of every wire type, and known numbers of another wire type.
  const std::string group = varint(20 << 3 | 3) + varint(1 << 3) + varint(5) + varint(20 << 3 | 4);
  Message odd;
  odd.number(100, kMaxU64)
      .text(101, "x")
      .raw(varint(102 << 3 | 1))
      .raw("12345678")
      .raw(varint(103 << 3 | 5))
      .raw("1234")
      .raw(group)
      .number(6, 3)
      .text(2, "x")
      .number(3, 9)
      .text(6, "op");
  CHECK_EQ(describe(odd, 0).op_name, "op");
  CHECK(describe(odd, 0).tensors.empty());

  // int32 and enums: 64-bit varints, cut to 32 bits; a sub-format inside the format word.
  const auto typed = [](std::uint64_t type, std::uint64_t format, std::uint64_t sub_format) {
    return describe(Tensor{.data_type = type, .format = format, .sub_format = sub_format});
  };
  CHECK_EQ(typed(kMaxU64, 2, kMaxU64).data_type, -1);
  CHECK_EQ(typed(kMaxU64, 2, kMaxU64).sub_format, -1);
  CHECK_EQ(typed((std::uint64_t{1} << 32) + 1, 2, 0).data_type, 1);
  CHECK_EQ(typed(1, 0x2004, 0).format, 4);
  CHECK_EQ(typed(1, 0x2004, 0).sub_format, 0x20);
  CHECK_EQ(typed(1, 0x32004, 5).sub_format, 5);
  CHECK_EQ(typed(1, 0x5ABCDEF4, 0).sub_format, 0xBCDE & 0xFFFF);
  CHECK_EQ(typed(1, kMaxU64, 0).format, 255);
  CHECK_EQ(typed(1, kMaxU64, 0).sub_format, 0);
}

void test_malformed_messages() {
  CHECK_REFUSED_MESSAGE(Message().number(2, 1).raw("\x10"),
                        "a varint at byte 11 runs past the end of its message", 11);
  CHECK_REFUSED_MESSAGE(Message().raw("\x10\x80\x80"),
                        "a varint at byte 9 runs past the end of its message", 9);
  CHECK_REFUSED_MESSAGE(Message().raw("\x10").raw(std::string(9, '\xff')).raw("\x02"),
                        "a varint at byte 9 does not fit in 64 bits", 9);
  CHECK_REFUSED_MESSAGE(Message().raw("\x10").raw(std::string(11, '\x80')),
                        "a varint at byte 9 does not fit in 64 bits", 9);
  CHECK_REFUSED_MESSAGE(Message().raw("\x02"
                                      "abc"),
                        "field number 0 at byte 8 is not in 1 to 536870911", 8);
  CHECK_REFUSED_MESSAGE(Message().raw(varint(std::uint64_t{1} << 32)),
                        "field number 536870912 at byte 8 is not in 1 to 536870911", 8);
  CHECK_REFUSED_MESSAGE(Message().raw("\x0e"), "field 1 at byte 8 has wire type 6, expected 0 to 5",
                        8);
  CHECK_REFUSED_MESSAGE(Message().raw("\x0a\x05"
                                      "abc"),
                        "field 1 at byte 8 needs 5 bytes, its message has 3", 8);
  CHECK_REFUSED_MESSAGE(Message().raw("\x0a").raw(varint(kMaxU64)),
                        "field 1 at byte 8 needs 18446744073709551615 bytes, its message has 0", 8);
  CHECK_REFUSED_MESSAGE(Message().raw("\x09"
                                      "1234567"),
                        "field 1 at byte 8 needs 8 bytes, its message has 7", 8);
  CHECK_REFUSED_MESSAGE(Message().raw("\x0d"
                                      "123"),
                        "field 1 at byte 8 needs 4 bytes, its message has 3", 8);

  // Inside of others: a shape may not borrow bytes from the message around it.
  CHECK_REFUSED_MESSAGE(Message().message(3, Message().text(3, "\x0a\x02\x01")).text(6, "op"),
                        "field 1 at byte 12 needs 2 bytes, its message has 1", 12);
  CHECK_REFUSED_MESSAGE(
      Message().message(3, Message().message(3, Message().text(1, "\x80"))).text(6, "op"),
      "a varint at byte 14 runs past the end of its message", 14);
  for (const unsigned field : {4U, 10U}) {  // read by nobody, yet messages
    CHECK(error_of([&] { describe(Message().message(3, Message().text(field, "\x0a")), 0); }));
  }
  CHECK(error_of([&] { describe(Message().text(7, "\x0a"), 0); }));
  CHECK(error_of([&] { describe(Message().text(8, "\x10"), 0); }));
}

void test_groups() {
  const auto begin = [](unsigned field) { return varint(field << 3 | 3); };
  const auto end = [](unsigned field) { return varint(field << 3 | 4); };
  const auto nested = [&](unsigned depth) {
    std::string bytes;
    for (unsigned i = 1; i <= depth; ++i) bytes += begin(i);
    for (unsigned i = depth; i >= 1; --i) bytes += end(i);
    return Message().raw(bytes).text(6, "op");
  };
  CHECK_EQ(describe(nested(4), 0).op_name, "op");
  CHECK_REFUSED_MESSAGE(nested(5), "groups at byte 12 are nested too deeply", 12);
  CHECK_REFUSED_MESSAGE(nested(100000), "groups at byte 12 are nested too deeply", 12);
  const auto long_one = [&](std::size_t nbytes) {
    std::string fields;
    while (fields.size() < nbytes) fields += "\x78\x01";
    return Message().raw(begin(9)).raw(fields).raw(end(9)).text(6, "op");
  };
  CHECK_EQ(describe(long_one(1000000), 0).op_name, "op");
  CHECK_REFUSED_MESSAGE(long_one(1100000), "the group at byte 8 is too long", 8);
  CHECK_REFUSED_MESSAGE(Message().raw(begin(9)), "the group at byte 8 has no end", 8);
  CHECK_REFUSED_MESSAGE(Message().raw(begin(9)).raw(end(8)), "another group than 9 at byte 9 ends",
                        9);
  CHECK_REFUSED_MESSAGE(Message().raw(end(9)), "a group ends at byte 8 but none has begun", 8);
}

void test_limits() {
  CHECK_EQ(describe(Tensor{.shape = std::vector<std::uint64_t>(64, 1), .size = 4}).n_elements, 1U);
  const auto dims = [](std::size_t n) {
    return Message().message(3,
                             Message().text(3, Message().text(1, std::string(n, '\x01')).bytes()));
  };
  const std::string too_many = "more than 64 dimensions at byte ";
  CHECK_REFUSED(describe(dims(65), 0), too_many + "78 (the limit of this reader)", 78);
  CHECK(error_of([&] { describe(dims(1000000), 0); }));
  Message unpacked;
  for (int i = 0; i < 65; ++i) unpacked.number(1, 1);
  CHECK(error_of([&] { describe(Message().message(4, Message().message(3, unpacked)), 0); }));
  Message in_pieces;
  for (int i = 0; i < 65; ++i) in_pieces.shape(6, {1});
  CHECK(error_of([&] { describe(Message().message(4, in_pieces), 0); }));

  const auto repeated = [](unsigned field, std::size_t n) {
    std::string bytes;
    for (std::size_t i = 0; i < n; ++i) bytes += varint(field << 3 | 2) + varint(0);
    return Message().raw(bytes);
  };
  CHECK_EQ(describe(repeated(5, kMaxTensorsPerFile), 0).tensors.size(), kMaxTensorsPerFile);
  CHECK_REFUSED_MESSAGE(repeated(5, kMaxTensorsPerFile + 1),
                        "more than 4096 tensors at byte 8202 (the limit of this reader)", 8202);
  CHECK_EQ(describe(repeated(7, kMaxAttrs), 0).attrs.size(), kMaxAttrs);
  CHECK_REFUSED_MESSAGE(repeated(7, kMaxAttrs + 1),
                        "more than 256 attributes at byte 522 (the limit of this reader)", 522);
}

FileDescription with_texts_cut(const Message& message) {
  FileDescription description = describe(message, 0);
  cut_texts(description);
  return description;
}

void test_texts_that_are_too_long() {
  const std::string longest(kMaxNameNbytes, 'n');
  const FileDescription whole = with_texts_cut(Message().text(6, longest));
  CHECK_EQ(whole.op_name, longest);
  CHECK(whole.header_note.empty());
  const FileDescription cut = with_texts_cut(Message().text(6, longest + longest));
  CHECK_EQ(cut.op_name, longest);
  CHECK_EQ(cut.header_note.text(), "the op_name of 8192 bytes is cut after 4096");
  // The last of several counts.
  CHECK(with_texts_cut(Message().text(6, longest + "n").text(6, "op")).header_note.empty());

  const std::string text(kMaxTextNbytes, 't');
  const FileDescription log = with_texts_cut(Message().text(9, text + "t"));
  CHECK_EQ(log.dfx_message, text);
  CHECK_EQ(log.header_note.text(), "the dfx_message of 1048577 bytes is cut after 1048576");
  const FileDescription version = with_texts_cut(Message().text(1, longest + "n"));
  CHECK_EQ(version.version, longest);
  CHECK_EQ(version.header_note.text(), "the version of 4097 bytes is cut after 4096");
  const FileDescription attr =
      with_texts_cut(Message().message(7, Message().text(1, longest + "n").text(2, text + "t")));
  CHECK_EQ(attr.attrs.at(0).first, longest);
  CHECK_EQ(attr.attrs.at(0).second, text);
  CHECK_EQ(attr.header_note.text(),
           "the name of an attribute of 4097 bytes is cut after 4096; "
           "the value of an attribute of 1048577 bytes is cut after 1048576");
  const FileDescription op =
      with_texts_cut(Message().message(3, Message().message(4, Message().text(1, longest + "n"))));
  CHECK_EQ(op.original_ops.at(0).name, longest);
  CHECK_EQ(op.header_note.text(),
           "the name of an original operator of 4097 bytes is cut after 4096");
}

// What all tensors of a file repeat takes no more in all than it may.
void test_a_name_that_many_tensors_repeat() {
  const auto length_of = [](std::size_t n_tensors) {
    std::string tensors;
    for (std::size_t i = 0; i < n_tensors; ++i) tensors += std::string("\x1a\0", 2);
    const Message message = Message().text(6, std::string(kMaxNameNbytes, 'n')).raw(tensors);
    return with_texts_cut(message).op_name.size();
  };
  CHECK_EQ(length_of(256), kMaxNameNbytes);
  CHECK_EQ(length_of(1024), 1024U);
  CHECK_EQ(length_of(kMaxTensorsPerFile), 256U);
}

void test_inline_data() {
  CHECK_REFUSED_MESSAGE(Message().message(3, Message().text(5, "abcd")),
                        "inline data (version 1): output 0 at byte 10 holds its 4 bytes itself, "
                        "expected them after the header",
                        10);
  CHECK(error_of([] { describe(Message().message(4, Message().text(4, "abcd")), 0); }));
  CHECK(error_of([] { describe(Message().message(5, Message().text(2, "abcd")), 0); }));
  CHECK(error_of([] { describe(Message().message(8, Message().text(2, "abcd")), 0); }));
  CHECK_EQ(describe(Message().message(3, Message().text(5, "").number(6, 0)), 0).tensors.size(),
           1U);
}

// A file that is refused here is no message; most others are refused only when they are decoded.
void test_what_may_be_a_message() {
  const auto may_be = [](std::string_view bytes, std::uint64_t file_nbytes) {
    return may_be_dump_data(Head(bytes).span(), file_nbytes);
  };
  const std::string tensor = output({.shape = {4}, .size = 16}).bytes();
  const std::string known = Message().text(1, "1.0").text(3, tensor).bytes();
  const std::string unknown = Message().text(2, "1.0").number(77, 1).text(3, tensor).bytes();
  const std::string group = std::string("\x4b\x08\x01\x4c", 4) + known;
  for (const std::string& message : {known, unknown, group}) {
    CHECK(may_be(message, message.size()));
    CHECK(!may_be(message, message.size() - 1) || message.empty());
    // Where the head ends decides nothing.
    for (std::size_t n = 1; n < message.size(); ++n) {
      CHECK(may_be(std::string_view(message).substr(0, n), message.size()));
    }
  }
  for (const std::string_view other : {"", "text\n", "#!/bin/sh\n",
                                       "\x7f"
                                       "ELF\2\1\1",
                                       "\x4c", "\x05"}) {
    CHECK(!may_be(other, other.size()));
  }
}

}  // namespace
}  // namespace fastdump

int main() {
  using namespace fastdump;
  test_every_field_of_the_header();
  test_arguments();
  test_original_operators();
  test_protobuf_rules();
  test_malformed_messages();
  test_groups();
  test_limits();
  test_texts_that_are_too_long();
  test_a_name_that_many_tensors_repeat();
  test_inline_data();
  test_what_may_be_a_message();
  return tests::exit_code();
}
