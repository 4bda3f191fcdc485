#include "core/formats/npy.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/decimal.hpp"
#include "core/errors.hpp"
#include "core/formats/byte_cursor.hpp"
#include "core/formats/dump_data.hpp"
#include "core/formats/payload.hpp"
#include "core/note.hpp"
#include "core/size.hpp"

namespace fastdump {
namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr std::size_t kVersionNbytes = 2;
constexpr std::int64_t kNd = 2;  // the tensor format of arrays without a special layout

// numpy's type strings of little-endian elements. numpy has no letter for the types of ml_dtypes
// and stores them as bytes: of two bytes only bfloat16 is in use.
constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
    {"<f2", "float16"},
    {"<f4", "float32"},
    {"<f8", "float64"},
    {"|b1", "bool"},
    {"|i1", "int8"},
    {"<i2", "int16"},
    {"<i4", "int32"},
    {"<i8", "int64"},
    {"|u1", "uint8"},
    {"<u2", "uint16"},
    {"<u4", "uint32"},
    {"<u8", "uint64"},
    {"<c8", "complex64"},
    {"<c16", "complex128"},
    {"<V2", "bfloat16"},
    {"|V2", "bfloat16"},
    // Not as numpy spells them: other writers give bytes an order, too.
    {"<b1", "bool"},
    {"<i1", "int8"},
    {"<u1", "uint8"},
};

[[noreturn, gnu::cold]] void fail(const std::string& problem) {
  throw FormatError("npy header: " + problem, kNpyMagic.size() + kVersionNbytes);
}

// The dictionary's three values, found by their keys: numpy writes it with no nesting but the
// shape's and that of a structured type, whose fields may have the names of keys but no values.
class Header {
 public:
  explicit Header(std::string_view text) : text_(text) {}

  // Empty for a structured type, which no tensor has.
  std::optional<std::string_view> type() const {
    const std::string_view value = value_of("descr");
    if (value.starts_with('[') || value.starts_with('(')) return std::nullopt;
    if (!value.starts_with('\'') && !value.starts_with('"')) fail("'descr' is not a type");
    const std::size_t end = value.find(value.front(), 1);
    if (end == std::string_view::npos) fail("'descr' has no closing quote");
    return value.substr(1, end - 1);
  }

  bool fortran_order() const {
    const std::string_view value = value_of("fortran_order");
    if (value.starts_with("True")) return true;
    if (!value.starts_with("False")) fail("'fortran_order' is neither True nor False");
    return false;
  }

  std::vector<std::int64_t> shape() const {
    std::string_view value = value_of("shape");
    const std::size_t end = value.find(')');
    if (!value.starts_with('(') || end == std::string_view::npos) fail("'shape' is not a tuple");
    value = value.substr(1, end - 1);
    std::vector<std::int64_t> shape;
    while (!value.empty()) {
      const std::size_t comma = std::min(value.find(','), value.size());
      const std::string_view dim = trim(value.substr(0, comma));
      value.remove_prefix(std::min(comma + 1, value.size()));
      if (dim.empty() && trim(value).empty()) break;  // "(3,)"
      const auto number = parse_decimal(dim);
      if (!number) fail("dimension " + quoted(dim, '\'') + " is not a number");
      if (shape.size() == kMaxDims) fail("more than " + std::to_string(kMaxDims) + " dimensions");
      shape.push_back(*number);
    }
    return shape;
  }

 private:
  static constexpr std::string_view kBlanks = " \t\r\n";

  static std::string_view skip_blanks(std::string_view text) {
    return text.substr(std::min(text.find_first_not_of(kBlanks), text.size()));
  }

  static std::string_view trim(std::string_view text) {
    text = skip_blanks(text);
    return text.substr(0, text.find_last_not_of(kBlanks) + 1);
  }

  // And all that follows it.
  std::string_view value_of(std::string_view key) const {
    for (const char quote : {'\'', '"'}) {
      const std::string quoted = quote + std::string(key) + quote;
      for (std::size_t at = text_.find(quoted); at != std::string_view::npos;
           at = text_.find(quoted, at)) {
        at += quoted.size();
        const std::string_view rest = skip_blanks(text_.substr(at));
        if (rest.starts_with(':')) return skip_blanks(rest.substr(1));
      }
    }
    fail("no key '" + std::string(key) + "'");
  }

  std::string_view text_;
};

// The length field: two bytes in version 1, four after it.
struct Layout {
  std::size_t text_begin;
  std::uint64_t text_nbytes;
};

Layout layout_of(std::span<const std::byte> head) {
  ByteCursor cursor(head, 0);
  cursor.take(kNpyMagic.size(), "the magic");
  const auto major = std::to_integer<int>(cursor.take(kVersionNbytes, "the version").front());
  if (major < 1 || major > 3) fail("version " + std::to_string(major) + ", expected 1 to 3");
  const std::uint64_t nbytes =
      ByteCursor::little_endian(cursor.take(major == 1 ? 2 : 4, "the header length"));
  return {static_cast<std::size_t>(cursor.offset()), nbytes};
}

}  // namespace

bool has_npy_magic(std::span<const std::byte> head) {
  // The longest length field is part of it, so that nothing runs past the end of `head`.
  return head.size() >= 12 &&
         std::ranges::equal(head.first(kNpyMagic.size()), kNpyMagic,
                            [](std::byte a, char b) { return static_cast<char>(a) == b; });
}

std::uint64_t npy_header_end(std::span<const std::byte> head, std::uint64_t file_size) {
  const Layout layout = layout_of(head);
  const std::uint64_t end = layout.text_begin + layout.text_nbytes;
  if (end > file_size) {
    fail("ends at byte " + std::to_string(end) + ", the file at byte " + std::to_string(file_size));
  }
  if (end > kMaxHeaderBytes) {
    fail(std::to_string(end) + " bytes are more than the limit of " +
         std::to_string(kMaxHeaderBytes));
  }
  return end;
}

void describe_npy(std::span<const std::byte> head, std::uint64_t file_size,
                  FileDescription& description) {
  const std::uint64_t end = npy_header_end(head, file_size);
  const std::size_t begin = layout_of(head).text_begin;
  const auto text = head.subspan(begin, end - begin);
  // SAFETY: char may alias any object.
  const Header header({reinterpret_cast<const char*>(text.data()), text.size()});

  description = FileDescription{};
  description.kind = FileKind::npy;
  description.version = "npy";
  description.header_nbytes = end;
  description.fortran_order = header.fortran_order();
  TensorDescription& tensor = description.tensors.emplace_back();
  tensor.format = kNd;
  tensor.shape = header.shape();
  const std::optional<std::string_view> type = header.type();
  const auto known = std::ranges::find(kTypes, type, [](const auto& pair) { return pair.first; });
  if (known == std::end(kTypes)) {
    tensor.data_type = -1;
    tensor.nbytes = file_size - end;
    place_payloads(description, end, file_size);
    tensor.note =
        Note(type ? "elements of type " + quoted(*type, '\'') : "elements of a structured type");
    return;
  }
  // Statistics know elements by where they are stored: first_bad is not what it looks like.
  if (description.fortran_order && tensor.shape.size() > 1) {
    tensor.note.add("elements in Fortran order: the first index varies fastest");
  }
  tensor.dtype = find_data_type(known->second);
  tensor.data_type = tensor.dtype->number;
  tensor.nbytes = packed_nbytes(count_elements(std::span<const std::int64_t>(tensor.shape)),
                                tensor.dtype->bits);
  place_payloads(description, end, file_size);
}

}  // namespace fastdump
