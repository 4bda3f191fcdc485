// Mutations that know what a dump file is: its header is a message of fields, of which some are
// messages and some are packed numbers; lengths that do not fit are made on purpose, not by chance.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bytes_mutator.hpp"
#include "standard_file.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace fastdump::fuzz {
namespace {

using tests::Random;

// What the fields of each message of the schema hold.
enum class Kind : std::uint8_t {
  number,
  text,
  packed,
  dump,
  output,
  input,
  bytes,
  op,
  attr,
  shape
};

struct FieldKind {
  std::uint32_t number;
  Kind kind;
};

std::span<const FieldKind> fields_of(Kind message) {
  using enum Kind;
  static constexpr FieldKind kDump[] = {{1, text}, {2, number}, {3, output}, {4, input}, {5, bytes},
                                        {6, text}, {7, attr},   {8, bytes},  {9, text}};
  static constexpr FieldKind kOutput[] = {{1, number}, {2, number}, {3, shape},   {4, op},
                                          {5, text},   {6, number}, {7, shape},   {8, number},
                                          {9, number}, {10, shape}, {11, number}, {12, number}};
  static constexpr FieldKind kInput[] = {{1, number}, {2, number},  {3, shape},  {4, text},
                                         {5, number}, {6, shape},   {7, number}, {8, number},
                                         {9, number}, {10, number}, {11, number}};
  static constexpr FieldKind kBytes[] = {{1, number}, {2, text}, {3, number}, {4, number}};
  static constexpr FieldKind kOp[] = {{1, text}, {2, number}, {3, number}, {4, number}};
  static constexpr FieldKind kAttr[] = {{1, text}, {2, text}};
  static constexpr FieldKind kShape[] = {{1, packed}};
  switch (message) {
    case dump:
      return kDump;
    case output:
      return kOutput;
    case input:
      return kInput;
    case bytes:
      return kBytes;
    case op:
      return kOp;
    case attr:
      return kAttr;
    case shape:
      return kShape;
    default:
      return {};
  }
}

bool is_message(Kind kind) { return !fields_of(kind).empty(); }

Kind kind_of(Kind message, std::uint32_t number) {
  const auto fields = fields_of(message);
  const auto found = std::ranges::find(fields, number, &FieldKind::number);
  return found == fields.end() ? Kind::text : found->kind;
}

struct Node {
  std::uint32_t number = 0;
  unsigned wire_type = 0;
  Kind kind = Kind::number;
  std::uint64_t value = 0;   // of a varint
  std::string text;          // of anything else that is no message
  std::vector<Node> fields;  // of a message
  int wrong_length = 0;      // what is added to the length when it is written
};

bool read_varint(std::string_view& bytes, std::uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<std::uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

// False if the bytes are no message; what was read until then stays.
bool parse(std::string_view bytes, Kind message, std::vector<Node>& fields) {
  while (!bytes.empty()) {
    std::uint64_t tag = 0;
    Node node;
    if (!read_varint(bytes, tag) || tag < 8 || tag > UINT32_MAX) return false;
    node.number = static_cast<std::uint32_t>(tag >> 3);
    node.wire_type = tag & 7;
    node.kind = kind_of(message, node.number);
    std::uint64_t n = 0;
    if (node.wire_type == 0) {
      if (!read_varint(bytes, node.value)) return false;
    } else {
      if (node.wire_type == 1) n = 8;
      if (node.wire_type == 5) n = 4;
      if (node.wire_type == 2 && !read_varint(bytes, n)) return false;
      if (node.wire_type == 3 || node.wire_type == 4 || node.wire_type > 5) return false;
      if (n > bytes.size()) return false;
      node.text = bytes.substr(0, n);
      bytes.remove_prefix(n);
      if (node.wire_type == 2 && is_message(node.kind) &&
          !parse(node.text, node.kind, node.fields)) {
        node.fields.clear();
        node.kind = Kind::text;
      }
    }
    fields.push_back(std::move(node));
  }
  return true;
}

std::string written(const std::vector<Node>& fields) {
  std::string bytes;
  for (const Node& node : fields) {
    bytes += tests::varint(std::uint64_t{node.number} << 3 | node.wire_type);
    if (node.wire_type == 0) {
      bytes += tests::varint(node.value);
      continue;
    }
    const bool has_fields = node.wire_type == 2 && is_message(node.kind);
    const std::string text = has_fields ? written(node.fields) : node.text;
    if (node.wire_type == 2) {
      bytes += tests::varint(text.size() + static_cast<std::uint64_t>(node.wrong_length));
    }
    bytes += text;
  }
  return bytes;
}

std::uint64_t any_number(Random& random) {
  switch (below(random, 4)) {
    case 0:
      return below(random, 40);
    case 1:
      return std::uint64_t{1} << below(random, 64);
    case 2:
      return (std::uint64_t{1} << below(random, 64)) - 1;
    default:
      return random.next();
  }
}

Node any_field(Kind message, Random& random) {
  const auto fields = fields_of(message);
  const FieldKind& field = fields[below(random, fields.size())];
  Node node;
  node.number =
      below(random, 16) == 0 ? 1 + static_cast<std::uint32_t>(below(random, 30)) : field.number;
  node.kind = kind_of(message, node.number);
  node.wire_type = node.kind == Kind::number ? 0 : 2;
  if (node.kind == Kind::number) node.value = any_number(random);
  if (node.kind == Kind::packed) {
    for (std::size_t n = below(random, 6); n > 0; --n)
      node.text += tests::varint(any_number(random));
  }
  if (node.kind == Kind::text) node.text.assign(below(random, 24), 'x');
  if (is_message(node.kind)) {
    for (std::size_t n = below(random, 4); n > 0; --n) {
      node.fields.push_back(any_field(node.kind, random));
    }
  }
  return node;
}

void mutate_text(std::string& text) {
  std::string room = text;
  room.resize(text.size() + 16);
  // SAFETY: unsigned char may alias any object.
  auto* data = reinterpret_cast<std::uint8_t*>(room.data());
  room.resize(LLVMFuzzerMutate(data, text.size(), room.size()));
  text = room;
}

void mutate(std::vector<Node>& fields, Kind message, Random& random) {
  const std::size_t action = below(random, 12);
  if (fields.empty() || action == 0) {
    const auto at = static_cast<std::ptrdiff_t>(below(random, fields.size() + 1));
    fields.insert(fields.begin() + at, any_field(message, random));
    return;
  }
  const std::size_t i = below(random, fields.size());
  Node& node = fields[i];
  // Down into a message, most of the time.
  if (is_message(node.kind) && node.wire_type == 2 && action < 8) {
    mutate(node.fields, node.kind, random);
    return;
  }
  switch (action) {
    case 1:
      fields.erase(fields.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    case 2: {
      const Node copy = node;
      for (std::size_t n = 1 + (below(random, 8) == 0 ? below(random, 80) : 0); n > 0; --n) {
        fields.push_back(copy);
      }
      return;
    }
    case 3:
      std::swap(node, fields[below(random, fields.size())]);
      return;
    case 4:
      node.number = 1 + static_cast<std::uint32_t>(below(random, 13));
      return;
    case 5:
      node.wrong_length = static_cast<int>(below(random, 7)) - 3;
      return;
    case 6:
      node = any_field(message, random);
      return;
    default:
      break;
  }
  if (node.wire_type == 0) {
    const std::uint64_t near = node.value + below(random, 5) - 2;
    node.value = below(random, 2) == 0 ? near : any_number(random);
  } else if (node.kind == Kind::packed) {
    node.text += tests::varint(any_number(random));
    if (below(random, 2) == 0) node.text.erase(0, 1 + below(random, node.text.size()));
  } else if (!is_message(node.kind)) {
    mutate_text(node.text);
  } else {
    mutate(node.fields, node.kind, random);
  }
}

// Of a message, or of a header with its length before it and whatever follows it.
std::string mutated(std::string_view file, Random& random) {
  std::uint64_t n_header = 0;
  if (file.size() >= 8) std::memcpy(&n_header, file.data(), 8);
  std::vector<Node> fields;
  const bool is_standard = file.size() >= 8 && n_header <= file.size() - 8 &&
                           parse(file.substr(8, n_header), Kind::dump, fields);
  if (is_standard) {
    mutate(fields, Kind::dump, random);
    const std::string header = written(fields);
    const std::uint64_t wrong = below(random, 32) == 0 ? any_number(random) : 0;
    return tests::little_endian(header.size() + wrong, 8) + header +
           std::string(file.substr(8 + n_header));
  }
  fields.clear();
  parse(file, Kind::dump, fields);
  mutate(fields, Kind::dump, random);
  return written(fields);
}

}  // namespace
}  // namespace fastdump::fuzz

// Sometimes, of bytes: what follows the header, choices, and files of other formats.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned int seed) {
  using namespace fastdump;
  tests::Random random(seed);
  for (int i = 0; i < 4; ++i) random.next();  // seeds that are alike give different numbers
  if (fuzz::below(random, 4) == 0) return LLVMFuzzerMutate(data, size, max_size);
  // SAFETY: char may alias any object.
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  const std::string mutated = fuzz::mutated(file, random);
  if (mutated.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, mutated.data(), mutated.size());
  return mutated.size();
}
