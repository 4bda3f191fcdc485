// What a file is by its content: the order of recognition, inline files of every size, and dumps
// appended to others. With directories as arguments, every prefix and every changed byte at the
// start of their files, too.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/file_format.hpp"
#include "core/formats/file_name.hpp"
#include "core/scan/file_header.hpp"
#include "invariants.hpp"
#include "mutations.hpp"
#include "nano_file.hpp"
#include "npy_file.hpp"
#include "temporary_directory.hpp"

namespace fastdump {
namespace {

using namespace tests;

constexpr std::string_view kName = "Add.a.1.2.1700000000000000";
constexpr std::string_view kThread1 = "Add.a.1.2.1700000000000000.4.11.1.0";
constexpr std::size_t kPageBytes = std::size_t{64} << 10;  // the largest of any machine

// The content of an open file, with what is refused as an error.
void describe(const File& file, std::uint64_t nbytes, std::span<const std::byte> head,
              const FileName& name, std::vector<FileDescription>& dumps) {
  FileHeader bytes(file, head, nbytes);
  FileContent content = describe_content(bytes, name, dumps);
  if (auto* tensors = std::get_if<DumpedTensors>(&content)) {
    dumps = std::move(tensors->dumps);
  } else if (auto* csv = std::get_if<StatisticsCsv>(&content)) {
    dumps.resize(1);
    dumps.front() = describe_statistics(std::move(*csv), nbytes);
  } else {
    const auto& refusal = std::get<Refusal>(content);
    throw FormatError(refusal.what, refusal.offset);
  }
}

// A file on disk, whose first bytes are handed over in memory that ends where they end.
class Described {
 public:
  explicit Described(std::string_view bytes, std::string_view name = kName,
                     std::size_t head_nbytes = 4096, std::uint64_t size_beyond = 0) {
    static const TemporaryDirectory directory;
    const std::string path = directory.write("file", bytes);
    const File file(path.c_str());
    std::filesystem::remove(path);  // writing a file anew is much slower than writing a new one
    const Head head(bytes.substr(0, std::min(head_nbytes, bytes.size())));
    describe(file, bytes.size() + size_beyond, head.span(), parse_file_name(name), dumps);
  }
  const FileDescription& first() const { return dumps.at(0); }
  const TensorDescription& tensor(std::size_t i) const { return first().tensors.at(i); }

  std::vector<FileDescription> dumps;
};

std::string_view kind_of(std::string_view bytes, std::string_view name = kName) {
  const Described described(bytes, name);
  return to_string(described.first().kind);
}

#define CHECK_REFUSED_FILE(words, offset, ...) CHECK_REFUSED(Described(__VA_ARGS__), words, offset)

std::string standard_file(const Message& header, std::size_t payload_nbytes) {
  return with_length(header) + std::string(payload_nbytes, '\x3c');
}

// One output of four float32.
std::string small_dump(char c = '\x3c') {
  return with_length(Message().text(6, "op").message(3, output({.shape = {4}, .size = 16}))) +
         std::string(16, c);
}

Message inline_output(std::string_view data, std::uint64_t n) {
  return Message().number(1, 1).shape(3, {n}).text(5, data);
}

// Without a mark: a message that begins as it likes.
std::string inline_file(std::size_t nbytes) {
  return Message()
      .text(6, "scope/op")
      .message(3, inline_output(std::string(nbytes, 'd'), nbytes / 4))
      .bytes();
}

std::string marked_inline_file(std::size_t nbytes) {
  return Message().text(1, "1.0").raw(inline_file(nbytes)).bytes();
}

std::string npy_file() { return npy_header(npy_text("<f4", "(4,)")) + std::string(16, '\x3c'); }

void test_kinds_by_content() {
  const std::string_view names[] = {kName,
                                    "whatever",
                                    "9134657216587341217",
                                    "x.npy",
                                    "Add.a.1.2.1700000000000000.output.3.npy",
                                    "exception_info.1.2.20260101120000123"};
  for (const std::string_view name : names) {
    CHECK_EQ(kind_of(small_dump(), name), "standard");
    CHECK_EQ(kind_of(inline_file(16), name), "version_1");
    CHECK_EQ(kind_of(marked_inline_file(16), name), "version_1");
    CHECK_EQ(kind_of(nano_file(), name), "nano");
    CHECK_EQ(kind_of(npy_file(), name), "npy");
  }
}

// A header length that is a field of a message, too, followed by a header that is its rest.
std::string file_of_two_kinds() {
  Message header;
  header.message(3, output({.shape = {4}, .size = 16}));
  const std::size_t filler = 0x60A - header.bytes().size() - 3;  // field 1, of six bytes
  header.text(9, std::string(filler, 'x'));
  CHECK_EQ(header.bytes().size(), 0x60AU);
  return with_length(header);
}

void test_order_of_recognition() {
  const std::string both = file_of_two_kinds();
  CHECK_EQ(kind_of(both + std::string(16, '\0')), "standard");
  // Cut between two fields its rest is still a message, but one without data.
  for_every_prefix(both, [&](std::string_view bytes) {
    if (bytes.size() < both.size()) CHECK(error_of([&] { Described{bytes}; }).has_value());
  });
  // The magic decides, whatever follows it.
  CHECK_REFUSED_FILE("nano (TLV) dump: head length 8388608 at byte 0 is not within 24 bytes", 0,
                     little_endian(8388608, 8) + little_endian(0x5A5A5A5A, 4) + "some more by");
  CHECK_REFUSED_FILE("npy header: no key 'fortran_order'", 8, npy_header("not a dictionary"));
}

void test_names_of_converted_files() {
  const auto place = [](std::string_view name) {
    const Described d(npy_file(), name);
    return std::string(to_string(d.tensor(0).io)) + " " + std::to_string(d.tensor(0).index);
  };
  CHECK_EQ(place("Add.a.1.2.1700000000000000.output.3.npy"), "output 3");
  CHECK_EQ(place("Add.a.1.2.1700000000000000.input.12.2x3.npy"), "input 12");
  CHECK_EQ(place("Add.a.1.2.1700000000000000.output.4294967295.npy"), "output 4294967295");
  CHECK_EQ(place("Add.a.1.2.1700000000000000.output.4294967299.npy"), "output 0");  // who knows
  CHECK_EQ(place("whatever.npy"), "input 0");
  CHECK_EQ(place(kName), "input 0");
  // Not of a dump that was given such a name.
  CHECK(Described(small_dump(), "Add.a.1.2.1700000000000000.input.3.npy").tensor(0).io ==
        Io::output);
}

void test_inline_files_of_every_size() {
  for (const std::size_t nbytes : {4UL, 16UL, 4000UL, 4096UL, 5000UL, kPageBytes, 3 * kPageBytes}) {
    for (const std::string& file : {inline_file(nbytes), marked_inline_file(nbytes)}) {
      for (const std::size_t head_nbytes : {std::size_t{12}, std::size_t{4096}, file.size()}) {
        const Described d(file, kName, head_nbytes);
        CHECK(d.first().kind == FileKind::version_1);
        CHECK_EQ(d.dumps.size(), 1U);
        CHECK_EQ(d.first().op_name, "scope/op");
        const TensorDescription& t = d.tensor(0);
        CHECK_TENSOR(t, ok, nbytes / 4, "");
        CHECK(file.substr(t.offset, t.nbytes) == std::string(nbytes, 'd'));
        check_invariants(d.dumps, file.size());
      }
    }
  }
}

// Headers lie on several pages, with data between them.
void test_inline_file_with_many_tensors() {
  Message message;
  message.text(1, "1.0");
  std::vector<std::string> data;
  for (std::size_t i = 0; i < 20; ++i) {
    data.emplace_back(i * 9973, static_cast<char>('a' + i));
    message.message(3, Message().number(1, 3).shape(3, {data[i].size()}).text(5, data[i]));
  }
  message.text(6, "behind it all");
  const std::string& file = message.bytes();
  const Described d(file, kName, 12);
  CHECK_EQ(d.first().op_name, "behind it all");
  CHECK_EQ(d.first().tensors.size(), data.size());
  for (std::size_t i = 0; i < data.size(); ++i) {
    CHECK(file.substr(d.tensor(i).offset, d.tensor(i).nbytes) == data[i]);
    CHECK_TENSOR(d.tensor(i), ok, data[i].size(), "");
  }
}

void test_what_is_no_dump() {
  // Without a mark the reason is why it is no standard file; with one, why it is no inline file.
  CHECK_REFUSED_FILE("empty file, expected a header length at byte 0", 0, "");
  CHECK_REFUSED_FILE(
      "header length 7089336938131513954 at byte 0 runs past the end of the file "
      "(8 bytes): the file begins with text",
      0, "bbbbbbbb");
  CHECK_REFUSED_FILE("inline (version 1) dump: inline message without a tensor", 0,
                     Message().text(1, "1.0").text(6, "operator").bytes());
  const std::string cut = marked_inline_file(100).substr(0, 80);
  CHECK_REFUSED_FILE(
      "inline (version 1) dump: field 3 at byte 15 needs 109 bytes, its message "
      "has 63",
      15, cut);
  const std::string large_and_cut = marked_inline_file(3 * kPageBytes).substr(0, 2 * kPageBytes);
  CHECK(error_of([&] { Described(large_and_cut, kName, 12); }).has_value());
  // A message, but of fields that nobody knows.
  for (const std::size_t nbytes : {std::size_t{100}, kPageBytes}) {
    CHECK(error_of([&] { Described(Message().text(100, std::string(nbytes, 'x')).bytes()); }));
  }
}

void test_inline_file_larger_than_any_message() {
  const TemporaryDirectory directory;
  const std::string path = directory.write("file", marked_inline_file(100));
  std::filesystem::resize_file(path, std::uint64_t{1} << 31);
  const File file(path.c_str());
  const Head head(marked_inline_file(100).substr(0, 64));
  std::vector<FileDescription> dumps;
  CHECK_REFUSED(describe(file, std::uint64_t{1} << 31, head.span(), {}, dumps),
                "inline (version 1) dump: no message is larger than 2 GiB", 0);
}

// Fields on many pages, with data between them, which is not looked at.
std::string scattered_inline_file() {
  Message message;
  message.text(1, "1.0");
  for (std::size_t i = 0; i < 8; ++i) {
    message.message(3, inline_output(std::string(2 * kPageBytes, 'd'), kPageBytes / 2));
  }
  return message.bytes();
}

void test_files_that_shrink() {
  // The size was taken before the file was cut.
  const std::string large = marked_inline_file(8 * kPageBytes);
  CHECK_EQ(Described(large, kName, 4096).first().tensors.size(), 1U);
  for (const std::size_t n : {std::size_t{13}, std::size_t{4096}, kPageBytes, 5 * kPageBytes + 17,
                              large.size() - 1, large.size() - kPageBytes}) {
    const auto error = error_of([&] {
      Described(large.substr(0, n), kName, std::min<std::size_t>(n, 4096), large.size() - n);
    });
    CHECK(error && std::string_view(error->what()).starts_with("inline (version 1) dump: "));
  }
  // Pages that are looked at are gone, in the middle of the message or but for a few bytes.
  const std::string scattered = scattered_inline_file();
  CHECK_EQ(Described(scattered, kName, 4096).first().tensors.size(), 8U);
  for (std::size_t n = 13; n < scattered.size(); n += kPageBytes - 1) {
    const auto error = error_of([&] {
      Described(scattered.substr(0, n), kName, std::min<std::size_t>(n, 4096),
                scattered.size() - n);
    });
    CHECK(error && std::string_view(error->what()).starts_with("inline (version 1) dump: "));
  }
  const Message header = Message().text(9, std::string(9000, 'x')).message(3, output({}));
  const std::string standard = with_length(header);
  CHECK_REFUSED_FILE("the file shrank while its header was read: 5000 of 9028 bytes", 5000,
                     standard.substr(0, 5000), kName, 4096, standard.size() - 5000);
  const std::string npy = npy_header(npy_text("<f4", "(4,)") + std::string(9000, ' '));
  CHECK_REFUSED_FILE(
      "the file shrank while its header was read: 5000 of " + std::to_string(npy.size()) + " bytes",
      5000, npy.substr(0, 5000), kName, 4096, npy.size() - 5000);
}

void test_files_that_cannot_be_read() {
  const TemporaryDirectory directory;
  const File file(directory.path().c_str());  // opens, but cannot be read
  const Head head(with_length(Message().text(9, std::string(9000, 'x'))).substr(0, 4096));
  std::vector<FileDescription> dumps;
  bool is_system_error = false;
  try {
    describe(file, 10000, head.span(), {}, dumps);
  } catch (const SystemError& error) {
    is_system_error = error.error_number() == EISDIR;
  }
  CHECK(is_system_error);
}

void test_headers_beyond_the_first_bytes() {
  for (const std::size_t filler : {100UL, 4000UL, 4096UL, 200000UL}) {
    const Message header =
        Message().text(9, std::string(filler, 'x')).message(3, output({.shape = {4}, .size = 16}));
    const Described d(standard_file(header, 16));
    CHECK_EQ(d.first().dfx_message.size(), std::min(filler, kMaxTextNbytes));
    CHECK_TENSOR(d.tensor(0), ok, 4, "");
    CHECK_EQ(d.tensor(0).offset, header.bytes().size() + 8);
    const std::string npy = npy_header(npy_text("<f4", "(4,)") + std::string(filler, ' '), 2);
    CHECK_TENSOR(Described(npy + std::string(16, '\1')).tensor(0), ok, 4, "");
    const std::string nano = nano_header(tlv(77, std::string(filler, 'x')) +
                                         nano_inputs({nano_input({.shape = {4}, .size = 16})}));
    CHECK_TENSOR(Described(nano + std::string(16, '\1')).tensor(0), ok, 4, "");
  }
}

// Appended dumps

void test_appended_dumps() {
  const std::string two_inputs =
      standard_file(two_inputs_and_output(1, 2, 3).text(6, "other"), 48 + 8 + 16);
  const std::string one = small_dump();

  const Described two(one + two_inputs);
  CHECK_EQ(two.dumps.size(), 2U);
  CHECK_EQ(two.first().note.text(), "");
  CHECK_EQ(two.dumps.at(1).note.text(), "");
  CHECK_EQ(two.dumps.at(1).op_name, "other");
  CHECK_EQ(two.tensor(0).offset, one.size() - 16);
  const FileDescription& second = two.dumps.at(1);
  CHECK_EQ(second.tensors.size(), 3U);
  CHECK_EQ(second.tensors.at(0).offset, one.size() + two_inputs.size() - 72);
  CHECK_EQ(second.tensors.at(2).offset, one.size() + two_inputs.size() - 16);
  CHECK_TENSOR(second.tensors.at(0), ok, 12, "");

  const Described three(two_inputs + one + two_inputs);
  CHECK_EQ(three.dumps.size(), 3U);
  CHECK_EQ(three.dumps.at(1).tensors.at(0).offset, two_inputs.size() + one.size() - 16);
  CHECK_EQ(three.dumps.at(2).tensors.at(0).offset, 2 * two_inputs.size() + one.size() - 72);
  check_invariants(three.dumps, 2 * two_inputs.size() + one.size());

  // A header far from the first bytes, and one longer than these.
  const std::string far = standard_file(Message()
                                            .text(9, std::string(9000, 'x'))
                                            .message(3, output({.shape = {50000}, .size = 200000})),
                                        200000);
  const Described long_ones(far + far + one);
  CHECK_EQ(long_ones.dumps.size(), 3U);
  CHECK_EQ(long_ones.dumps.at(1).tensors.at(0).offset, 2 * far.size() - 200000);
  CHECK_EQ(long_ones.dumps.at(2).tensors.at(0).offset, 2 * far.size() + one.size() - 16);
}

void test_what_follows_is_not_always_a_dump() {
  const std::string one = small_dump();
  const std::string trailing = " after the last tensor (an appended dump?)";
  const auto notes = [&](std::string_view rest) {
    const Described d(one + std::string(rest));
    std::string all;
    for (const FileDescription& dump : d.dumps) all += "[" + dump.note.text() + "]";
    return all;
  };
  CHECK_EQ(notes(""), "[]");
  CHECK_EQ(notes("1"), "[1 trailing byte" + trailing + "]");
  CHECK_EQ(notes(std::string(100, '\0')), "[100 trailing bytes" + trailing + "]");
  CHECK_EQ(notes(nano_file()),
           "[" + std::to_string(nano_file().size()) + " trailing bytes" + trailing + "]");
  CHECK_EQ(notes(one + "1234"), "[][4 trailing bytes" + trailing + "]");
  CHECK_EQ(notes(one + one + std::string(20, '\xff')), "[][][20 trailing bytes" + trailing + "]");
  // A header that describes no tensor, or one of unknown fields, tells nobody anything.
  const std::string empty = with_length(Message().text(6, "op"));
  CHECK_EQ(notes(empty), "[" + std::to_string(empty.size()) + " trailing bytes" + trailing + "]");
  // The first may describe none.
  const Described after_empty(empty + one);
  CHECK_EQ(after_empty.dumps.size(), 2U);
  CHECK_EQ(after_empty.dumps.at(1).tensors.at(0).offset, empty.size() + one.size() - 16);
}

void test_appended_dump_that_is_cut() {
  const std::string one = small_dump();
  const std::string both = one + standard_file(two_inputs_and_output(1, 2, 3), 72);
  for (std::size_t n = one.size() + 1; n < both.size(); ++n) {
    const Described d(std::string_view(both).substr(0, n));
    CHECK_TENSOR(d.tensor(0), ok, 4, "");
    const bool has_header = n >= both.size() - 72;
    CHECK_EQ(d.dumps.size(), has_header ? 2U : 1U);
    CHECK(!d.dumps.back().note.empty());
    if (has_header) CHECK(d.dumps.at(1).tensors.at(2).status == Status::truncated);
    check_invariants(d.dumps, n);
  }
  const Described d(std::string_view(both).substr(0, both.size() - 20));
  CHECK_TENSOR(d.dumps.at(1).tensors.at(0), ok, 12, "");
  CHECK_TENSOR(d.dumps.at(1).tensors.at(1), truncated, 1, "the file ends after 4 of 8 bytes");
  CHECK_TENSOR(d.dumps.at(1).tensors.at(2), truncated, 0, "the file ends before its 16 bytes");
}

// The writer leaves out the bytes of a tensor at a null address: what follows begins earlier.
void test_appended_to_a_dump_with_a_tensor_that_was_not_written() {
  const Message partial = two_inputs_and_output(1, 0, 3);
  const std::string skipped = with_length(partial) + std::string(48, 'a') + std::string(16, 'c');
  const std::string one = small_dump();
  for (const std::string& rest : {one, one + one, skipped + one}) {
    const Described d(skipped + rest);
    CHECK_EQ(d.dumps.size(), rest == one ? 2U : 3U);
    CHECK_TENSOR(d.tensor(1), absent, 0, "its bytes were never written (device address 0)");
    CHECK_TENSOR(d.tensor(2), ok, 4, "");
    CHECK_EQ(d.tensor(2).offset, skipped.size() - 16);
    CHECK_EQ(d.dumps.back().note.text(), "");
    check_invariants(d.dumps, skipped.size() + rest.size());
  }
  // The second of three.
  const Described middle(one + skipped + one);
  CHECK_EQ(middle.dumps.size(), 3U);
  CHECK(middle.dumps.at(1).tensors.at(1).status == Status::absent);
  CHECK_EQ(middle.dumps.at(1).tensors.at(2).offset, one.size() + skipped.size() - 16);
  // Not if its bytes are there after all, or if nothing follows that is a dump.
  const std::string written = standard_file(partial, 72);
  CHECK_TENSOR(Described(written + one).tensor(1), ok, 2, "");
  CHECK_EQ(Described(written + one).dumps.size(), 2U);
  CHECK_TENSOR(Described(written + "rest").tensor(1), ok, 2, "");
}

void test_many_appended_dumps() {
  const std::string one = small_dump();
  std::string file;
  for (std::size_t i = 0; i <= kMaxAppended; ++i) file += one;
  CHECK_EQ(Described(file).dumps.size(), kMaxAppended + 1);
  CHECK_EQ(Described(file).dumps.back().note.text(), "");
  const Described more(file + one + one);
  CHECK_EQ(more.dumps.size(), kMaxAppended + 1);
  CHECK_EQ(
      more.dumps.back().note.text(),
      std::to_string(2 * one.size()) + " trailing bytes after the last tensor (an appended dump?)");
}

// Descriptions of tensors take a hundred times the memory of the bytes that ask for them.
void test_many_tensors_in_appended_dumps() {
  std::string empty_tensors;
  for (std::size_t i = 0; i < kMaxTensorsPerFile / 4; ++i)
    empty_tensors += std::string("\x2a\0", 2);
  const std::string quarter = with_length(Message().raw(empty_tensors));
  std::string file;
  for (int i = 0; i < 8; ++i) file += quarter;
  const Described d(file);
  CHECK_EQ(d.dumps.size(), 4U);
  CHECK_EQ(d.dumps.back().note.text(),
           std::to_string(4 * quarter.size()) +
               " trailing bytes after the last tensor (an appended dump?)");
}

// A file has no more header than one dump may have, and nobody asks for the texts of later dumps.
void test_much_header_in_appended_dumps() {
  const Message tensor = Message().message(3, output({.shape = {4}, .size = 16}));
  const std::string dump = standard_file(Message()
                                             .raw(tensor.bytes())
                                             .text(9, std::string(kMaxHeaderBytes / 3, 'x'))
                                             .message(7, Message().text(1, "name")),
                                         16);
  const Described d(dump + dump + dump + dump);
  CHECK_EQ(d.dumps.size(), 2U);
  CHECK_EQ(d.dumps.back().note.text(),
           std::to_string(2 * dump.size()) +
               " trailing bytes after the last tensor (an appended dump?)");
  CHECK_EQ(d.first().attrs.size(), 1U);
  CHECK(d.dumps.at(1).attrs.empty() && d.dumps.at(1).dfx_message.empty());
}

void test_sizes_beyond_the_file_in_an_appended_dump() {
  const Message huge = Message()
                           .message(3, output({.shape = {4}, .size = kMaxU64 - 100}))
                           .message(3, output({.shape = {4}, .size = 4000}))
                           .message(3, output({.shape = {4}, .size = 16}));
  const std::string one = small_dump();
  const Described d(one + standard_file(huge, 40));
  CHECK_EQ(d.dumps.size(), 2U);
  const FileDescription& second = d.dumps.at(1);
  CHECK_EQ(second.tensors.at(0).n_elements, 4U);
  CHECK_EQ(second.tensors.at(2).offset, kMaxU64);
  CHECK_EQ(second.tensors.at(2).n_elements, 0U);
  check_invariants(d.dumps, one.size() + huge.bytes().size() + 48);
}

void test_slices() {
  const Message header =
      Message()
          .message(3, output({.shape = {4}, .size = 12}))
          .message(7, Message().text(1, "x").text(
                          2, R"({"output_tensor_slice": [[], [[{"lower": 1, "higher": 4}]]]})"));
  const std::string file = standard_file(header, 12);
  const Described sliced(file, kThread1);
  CHECK_EQ(sliced.first().slices.size(), 1U);
  CHECK_TENSOR(sliced.tensor(0), ok, 3, "");
  CHECK(Described(file).first().slices.empty());
  CHECK_EQ(Described(file + file, kThread1).dumps.at(1).slices.size(), 1U);
}

void test_reused_descriptions() {
  const TemporaryDirectory directory;
  std::vector<FileDescription> reused;
  const std::string fortran = npy_header(npy_text("<f4", "(2, 2)", "True")) + std::string(16, '\1');
  for (const std::string& bytes :
       {fortran, inline_file(16), small_dump() + small_dump(), nano_file(), fortran, small_dump(),
        inline_file(16), npy_file(), nano_file(), small_dump()}) {
    const File file(directory.write("file", bytes).c_str());
    const Head head(bytes);
    describe(file, bytes.size(), head.span(), parse_file_name(kName), reused);
    const Described fresh(bytes);
    CHECK_EQ(reused.size(), fresh.dumps.size());
    const FileDescription& d = reused.front();
    CHECK(d.kind == fresh.first().kind);
    CHECK_EQ(d.version, fresh.first().version);
    CHECK_EQ(d.op_name, fresh.first().op_name);
    CHECK_EQ(d.note.text(), fresh.first().note.text());
    CHECK_EQ(d.fortran_order, fresh.first().fortran_order);
    CHECK_EQ(d.tensors.size(), fresh.first().tensors.size());
    check_invariants(reused, bytes.size());
  }
}

void check_any_bytes(std::string_view bytes, std::string_view name) {
  std::vector<FileDescription> dumps;
  const auto described = [&]() -> std::span<const FileDescription> {
    dumps = Described(bytes, name, 64).dumps;
    return dumps;
  };
  check_described(described, bytes.size());
}

void test_any_bytes() {
  const Message inline_message =
      Message().text(1, "1.0").message(3, inline_output("12345678", 2)).text(6, "op");
  constexpr std::string_view kCuts =
      R"({"input_tensor_slice": [[], [[{"lower":0,"higher":12}], [{"lower":0,"higher":2}]]]})";
  const Message full = two_inputs_and_output(1, 0, 3)
                           .text(6, "op")
                           .message(5, sized(10))
                           .message(7, Message().text(1, "x").text(2, kCuts));
  const std::string files[] = {
      standard_file(full, 82) + small_dump(),
      inline_message.bytes(),
      nano_file(),
      npy_file(),
      file_of_two_kinds(),
  };
  for (const std::string& file : files) {
    const auto check = [](std::string_view bytes) { check_any_bytes(bytes, kThread1); };
    for_every_prefix(file, check);
    for_many_changes(file, std::min<std::size_t>(file.size(), 400), 2500, check);
  }
}

void test_files(const std::filesystem::path& directory) {
  constexpr std::size_t kEnough = 1024;
  std::size_t n_files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream stream(entry.path(), std::ios::binary);
    const std::string file{std::istreambuf_iterator<char>(stream), {}};
    const std::string name = entry.path().filename();
    const auto check = [&](std::string_view bytes) { check_any_bytes(bytes, name); };
    for_every_prefix(std::string_view(file).substr(0, kEnough), check);
    for_every_changed_byte(file, kEnough / 8, check);
    for_many_changes(file, kEnough, 1000, check);
    check(file);
    ++n_files;
  }
  CHECK(n_files > 0);
}

}  // namespace
}  // namespace fastdump

int main(int argc, char** argv) {
  using namespace fastdump;
  test_kinds_by_content();
  test_order_of_recognition();
  test_names_of_converted_files();
  test_inline_files_of_every_size();
  test_inline_file_with_many_tensors();
  test_what_is_no_dump();
  test_inline_file_larger_than_any_message();
  test_files_that_shrink();
  test_files_that_cannot_be_read();
  test_headers_beyond_the_first_bytes();
  test_appended_dumps();
  test_what_follows_is_not_always_a_dump();
  test_appended_dump_that_is_cut();
  test_appended_to_a_dump_with_a_tensor_that_was_not_written();
  test_many_appended_dumps();
  test_many_tensors_in_appended_dumps();
  test_much_header_in_appended_dumps();
  test_sizes_beyond_the_file_in_an_appended_dump();
  test_slices();
  test_reused_descriptions();
  test_any_bytes();
  for (int i = 1; i < argc; ++i) test_files(argv[i]);
  return tests::exit_code();
}
