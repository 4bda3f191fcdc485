// .npy files: every way to write their header, every type, and when they are refused.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/formats/dump_data.hpp"
#include "core/formats/npy.hpp"
#include "core/formats/standard.hpp"
#include "core/size.hpp"
#include "invariants.hpp"
#include "mutations.hpp"
#include "npy_file.hpp"

namespace fastdump {
namespace {

using namespace tests;
using Shape = std::vector<std::int64_t>;

// From memory that ends where the header ends, whatever follows in `file`.
const FileDescription& describe(std::string_view file, std::uint64_t file_size,
                                FileDescription& description) {
  const Head head(file.substr(0, npy_header_end(Head(file).span(), file_size)));
  describe_npy(head.span(), file_size, description);
  return description;
}

FileDescription describe(std::string_view header, std::uint64_t payload_nbytes) {
  FileDescription description;
  return describe(header, header.size() + payload_nbytes, description);
}

// Of a version 1 file with this header text.
FileDescription describe_text(std::string_view text, std::uint64_t payload_nbytes) {
  return describe(npy_header(text), payload_nbytes);
}

TensorDescription tensor_of(std::string_view type, std::string_view shape,
                            std::uint64_t payload_nbytes) {
  return describe_text(npy_text(type, shape), payload_nbytes).tensors.at(0);
}

void test_magic() {
  const std::string file = npy_header(npy_text("<f4", "(3,)"));
  const auto is_npy = [](std::string_view bytes) { return has_npy_magic(Head(bytes).span()); };
  CHECK(is_npy(file));
  CHECK(is_npy(file.substr(0, 12)));
  for (std::size_t n = 0; n < 12; ++n) CHECK(!is_npy(file.substr(0, n)));
  for (std::size_t i = 0; i < 6; ++i) {
    std::string other = file;
    other[i] ^= 1;
    CHECK(!is_npy(other));
  }
}

void test_what_a_file_says() {
  const std::string header = npy_header(npy_text("<i2", "(3, 4)"));
  const FileDescription d = describe(header, 24);
  CHECK(d.kind == FileKind::npy && !d.fortran_order);
  CHECK_EQ(d.version, "npy");
  CHECK_EQ(d.note.text(), "");
  CHECK_EQ(d.header_nbytes, header.size());
  CHECK_EQ(d.tensors.size(), 1U);
  const TensorDescription& t = d.tensors.at(0);
  CHECK(t.io == Io::input && t.index == 0);
  CHECK_EQ(t.data_type, 5);  // the standard file's number of the type
  CHECK_EQ(t.dtype->name, "int16");
  CHECK_EQ(t.format, 2);
  CHECK_EQ(t.offset, header.size());
  CHECK_EQ(t.nbytes, 24U);
  CHECK(t.shape == (Shape{3, 4}) && t.origin_shape.empty());
  CHECK_TENSOR(t, ok, 12, "");
}

void test_fortran_order() {
  const auto described = [](std::string_view order, std::string_view shape) {
    return describe_text(npy_text("<f4", shape, order), 24);
  };
  const FileDescription fortran = described("True", "(3, 2)");
  CHECK(fortran.fortran_order);
  CHECK(fortran.tensors.at(0).shape == (Shape{3, 2}));
  CHECK_TENSOR(fortran.tensors.at(0), ok, 6,
               "elements in Fortran order: the first index varies fastest");
  CHECK_TENSOR(described("False", "(3, 2)").tensors.at(0), ok, 6, "");
  // Of one dimension there is but one order.
  CHECK_TENSOR(described("True", "(6,)").tensors.at(0), ok, 6, "");
}

void test_versions() {
  const std::string text = npy_text("<f8", "(2,)");
  for (const unsigned major : {1U, 2U, 3U}) {
    const std::string header = npy_header(text, major);
    const FileDescription d = describe(header, 16);
    CHECK_TENSOR(d.tensors.at(0), ok, 2, "");
    CHECK_EQ(d.tensors.at(0).offset, header.size());
  }
  CHECK_EQ(describe(npy_header(text + std::string(70000, ' '), 2), 16).header_nbytes,
           12 + text.size() + 70000);
  for (const unsigned major : {0U, 4U, 255U}) {
    CHECK_REFUSED(describe(npy_header(text, major), 16),
                  "npy header: version " + std::to_string(major) + ", expected 1 to 3", 8);
  }
}

void test_ways_to_write_a_header() {
  const char* const texts[] = {
      "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }",
      "{'shape': (3, 4), 'fortran_order': False, 'descr': '<f4'}",
      "{'fortran_order':False,'descr':'<f4','shape':(3,4)}\n",
      "{ 'shape' : ( 3 , 4 , ) , 'descr' : '<f4' , 'fortran_order' : False , }   \n",
      "{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (3, 4)}",
      "{'descr': \"<f4\", \"fortran_order\": False, 'shape': (3, 4)}",
      "{\t'descr':\n'<f4',\r\n 'fortran_order': False, 'shape': (3,\n4)}",
      "{'note': 'a shape', 'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)}",
      "{'note': 'shape', 'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)}",
  };
  for (const char* text : texts) {
    const FileDescription d = describe_text(text, 48);
    CHECK(d.tensors.at(0).shape == (Shape{3, 4}));
    CHECK_TENSOR(d.tensors.at(0), ok, 12, "");
  }
}

void test_shapes() {
  const std::pair<const char*, Shape> shapes[] = {
      {"()", {}},
      {"( )", {}},
      {"(3,)", {3}},
      {"(3, )", {3}},
      {"(3, 4)", {3, 4}},
      {"(3, 4,)", {3, 4}},
      {"(0,)", {0}},
      {"(3, 0, 4)", {3, 0, 4}},
      {"(1, 1, 1, 1, 1, 1)", {1, 1, 1, 1, 1, 1}},
  };
  for (const auto& [text, shape] : shapes) {
    std::uint64_t n = 1;
    for (const std::int64_t dim : shape) n *= static_cast<std::uint64_t>(dim);
    const TensorDescription t = tensor_of("<f4", text, 4 * n);
    CHECK(t.shape == shape);
    CHECK_TENSOR(t, ok, n, "");
  }
  for (const char* text : {"3", "[3]", "", "None", "(3", "3)", "'3'"}) {
    CHECK_REFUSED(tensor_of("<f4", text, 12), "npy header: 'shape' is not a tuple", 8);
  }
  for (const char* dim : {"-1", "+1", "3.0", "1e3", "0x10", "three", "3 4", "3L",
                          "9223372036854775808", "18446744073709551616", "(3", "''"}) {
    CHECK_REFUSED(tensor_of("<f4", std::string("(").append(dim).append(", 2)"), 8),
                  "npy header: dimension '" + std::string(dim) + "' is not a number", 8);
  }
  CHECK_REFUSED(tensor_of("<f4", "(, 3)", 12), "npy header: dimension '' is not a number", 8);
  CHECK_REFUSED(tensor_of("<f4", "(2, , 3)", 12), "npy header: dimension '' is not a number", 8);
  CHECK_REFUSED(tensor_of("<f4", std::string_view("(\xff\0'\n~, 2)", 10), 8),
                "npy header: dimension '\\xff\\x00'\\x0a~' is not a number", 8);
  CHECK_REFUSED(tensor_of("<f4", std::string("(").append(200, 'x').append(")"), 12),
                "npy header: dimension '" + std::string(40, 'x') + "...' is not a number", 8);

  const auto ones = [](std::size_t n) {
    std::string text = "(";
    for (std::size_t i = 0; i < n; ++i) text += "1, ";
    return text + ")";
  };
  CHECK_TENSOR(tensor_of("<f4", ones(kMaxDims), 4), ok, 1, "");
  CHECK_REFUSED(tensor_of("<f4", ones(kMaxDims + 1), 4), "npy header: more than 64 dimensions", 8);
}

void test_shapes_beyond_the_file() {
  CHECK_TENSOR(tensor_of("<f4", "(3, 4)", 47), truncated, 11, "the file ends after 47 of 48 bytes");
  CHECK_TENSOR(tensor_of("<f4", "(3, 4)", 0), truncated, 0, "the file ends before its 48 bytes");
  CHECK_TENSOR(tensor_of("<f4", "()", 0), truncated, 0, "the file ends before its 4 bytes");
  for (const char* huge : {"(4611686018427387904,)", "(4294967296, 4294967296)",
                           "(9223372036854775807, 2)", "(9223372036854775807,)"}) {
    const TensorDescription t = tensor_of("<f4", huge, 10);
    CHECK(t.status == Status::truncated);
    CHECK_EQ(t.n_elements, 2U);
  }
  CHECK_TENSOR(tensor_of("<f4", "(9223372036854775807, 9223372036854775807, 0)", 0), ok, 0, "");
  CHECK_EQ(describe_text(npy_text("<f4", "(2,)"), 11).note.text(),
           "3 trailing bytes after the last tensor (an appended dump?)");
}

void test_types() {
  const std::pair<const char*, const char*> types[] = {
      {"|b1", "bool"},
      {"|i1", "int8"},
      {"|u1", "uint8"},
      {"<i2", "int16"},
      {"<u2", "uint16"},
      {"<i4", "int32"},
      {"<u4", "uint32"},
      {"<i8", "int64"},
      {"<u8", "uint64"},
      {"<f2", "float16"},
      {"<f4", "float32"},
      {"<f8", "float64"},
      {"<c8", "complex64"},
      {"<c16", "complex128"},
      {"<V2", "bfloat16"},
      {"|V2", "bfloat16"},
      // Not numpy's own spelling: a byte has no order.
      {"<b1", "bool"},
      {"<i1", "int8"},
      {"<u1", "uint8"},
  };
  for (const auto& [type, name] : types) {
    const DataType* expected = find_data_type(std::string_view(name));
    const std::uint64_t nbytes = packed_nbytes(3, expected->bits);
    const TensorDescription t = tensor_of(type, "(3,)", nbytes);
    CHECK(t.dtype == expected);
    CHECK_EQ(t.data_type, expected->number);
    CHECK_EQ(t.nbytes, nbytes);
    CHECK_TENSOR(t, ok, 3, "");
  }
}

void test_types_without_an_encoding() {
  for (const char* type : {">f4", ">i2", "=f4", "|V1", "|V3", "|V4", "<f16", "<g", "|O", "<U5",
                           "|S10", "<M8[ns]", "float32", "<f", "<f44", ""}) {
    const TensorDescription t = tensor_of(type, "(3,)", 30);
    CHECK(t.dtype == nullptr);
    CHECK_EQ(t.data_type, -1);
    CHECK_EQ(t.nbytes, 30U);
    CHECK(t.shape == Shape{3});
    CHECK_TENSOR(t, unsupported, 0, "elements of type '" + std::string(type) + "'");
  }
  CHECK_TENSOR(tensor_of(">f4", "(3,)", 0), unsupported, 0, "elements of type '>f4'");
  CHECK_EQ(tensor_of("\xe6\x97\x1b[31m", "(3,)", 4).note.text(),
           "elements of type '\\xe6\\x97\\x1b[31m'");
  CHECK_EQ(tensor_of(std::string(100, 'x'), "(3,)", 4).note.text(),
           "elements of type '" + std::string(40, 'x') + "...'");

  // Structures: their fields may be called as the header's own keys are.
  const auto structured = [](std::string_view type) {
    return describe_text(
               "{'descr': " + std::string(type) + ", 'fortran_order': False, 'shape': (2, 3), }",
               30)
        .tensors.at(0);
  };
  for (const char* type : {"[('x', '<f4'), ('y', '<i2')]", "[('shape', '<f4', (3,))]",
                           "[('fortran_order', '<f4'), ('shape', '|i1')]", "('<f4', (2,))"}) {
    const TensorDescription t = structured(type);
    CHECK(t.status == Status::unsupported && t.dtype == nullptr);
    CHECK(t.shape == (Shape{2, 3}));
    CHECK_EQ(t.nbytes, 30U);
  }
  CHECK_EQ(structured("[('x', '<f4')]").note.text(), "elements of a structured type");
}

void test_headers_that_are_refused() {
  const auto refused = [](std::string_view text, std::string_view why) {
    CHECK_REFUSED(describe_text(text, 100), "npy header: " + std::string(why), 8);
  };
  refused("", "no key 'fortran_order'");
  refused("{}", "no key 'fortran_order'");
  refused("{'descr': '<f4', 'shape': (3,)}", "no key 'fortran_order'");
  refused("{'descr': '<f4', 'fortran_order': False}", "no key 'shape'");
  refused("{'fortran_order': False, 'shape': (3,)}", "no key 'descr'");
  refused("{'descr' '<f4', 'fortran_order': False, 'shape': (3,)}", "no key 'descr'");
  refused("{descr: '<f4', 'fortran_order': False, 'shape': (3,)}", "no key 'descr'");
  refused("{'descr\": '<f4', 'fortran_order': False, 'shape': (3,)}", "no key 'descr'");
  refused("{'descr': <f4, 'fortran_order': False, 'shape': (3,)}", "'descr' is not a type");
  refused("{'fortran_order': False, 'shape': (3,), 'descr':", "'descr' is not a type");
  refused("{'fortran_order': False, 'shape': (3,), 'descr': '<f4", "'descr' has no closing quote");
  refused("{'fortran_order': False, 'shape': (3,), 'descr': '<f4\"",
          "'descr' has no closing quote");
  refused("{'descr': '<f4', 'fortran_order': 1, 'shape': (3,)}",
          "'fortran_order' is neither True nor False");
  refused("{'descr': '<f4', 'fortran_order': 'False', 'shape': (3,)}",
          "'fortran_order' is neither True nor False");
  refused("{'descr': '<f4', 'fortran_order':", "'fortran_order' is neither True nor False");
  refused(std::string(60, '\0'), "no key 'fortran_order'");
}

void test_lengths_that_are_refused() {
  const std::string magic = "\x93NUMPY";
  const auto end = [&](std::string_view rest, std::uint64_t file_size) {
    return npy_header_end(Head(magic + std::string(rest)).span(), file_size);
  };
  const auto version = [](unsigned major, std::uint64_t length) {
    return little_endian(major, 2) + little_endian(length, major == 1 ? 2 : 4) + "{'de";
  };
  CHECK_EQ(end(version(1, 118), 128), 128U);
  CHECK_EQ(end(version(2, 116), 128), 128U);
  CHECK_REFUSED(end(version(1, 119), 128), "npy header: ends at byte 129, the file at byte 128", 8);
  CHECK_REFUSED(end(version(2, 0xFFFFFFFF), 128),
                "npy header: ends at byte 4294967307, the file at byte 128", 8);
  CHECK_REFUSED(end(version(3, kMaxHeaderBytes - 11), kMaxU64),
                "npy header: 16777217 bytes are more than the limit of 16777216", 8);
  CHECK_EQ(end(version(3, kMaxHeaderBytes - 12), kMaxU64), kMaxHeaderBytes);
}

void test_reused_description() {
  FileDescription reused;
  const std::string fortran = npy_header(npy_text("<f4", "(3, 2)", "True"));
  const std::string plain = npy_header(npy_text("<f4", "(6,)"));
  describe(fortran, fortran.size() + 24, reused);
  describe(plain, plain.size() + 24, reused);
  CHECK(!reused.fortran_order);
  CHECK(reused.tensors.at(0).shape == Shape{6});
  CHECK_EQ(reused.tensors.at(0).note.text(), "");
}

void test_any_bytes() {
  const std::string header = npy_header(npy_text("<c16", "(2, 3)", "True"));
  const std::string file = header + std::string(96, '\x3c');
  FileDescription reused;
  int n_described = 0;
  const auto check = [&](std::string_view bytes) {
    if (!has_npy_magic(Head(bytes).span())) return;
    const auto described = [&]() -> const FileDescription& {
      return describe(bytes, bytes.size(), reused);
    };
    n_described += check_described(described, bytes.size()) ? 1 : 0;
  };
  for_every_prefix(file, check);
  CHECK_EQ(n_described, 97);
  for_every_changed_byte(file, header.size(), check);
  for_many_changes(file, header.size(), 20000, check);
  CHECK(n_described > 1000 / kChangesStep);
}

}  // namespace
}  // namespace fastdump

int main() {
  using namespace fastdump;
  test_magic();
  test_what_a_file_says();
  test_fortran_order();
  test_versions();
  test_ways_to_write_a_header();
  test_shapes();
  test_shapes_beyond_the_file();
  test_types();
  test_types_without_an_encoding();
  test_headers_that_are_refused();
  test_lengths_that_are_refused();
  test_reused_description();
  test_any_bytes();
  return tests::exit_code();
}
