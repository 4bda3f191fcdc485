// Nano (TLV) files for the native tests, encoded here by hand.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "standard_file.hpp"

namespace fastdump::tests {

struct NanoTensor {
  std::uint64_t data_type = 0;            // in the graph engine's numbering: float32
  std::vector<std::uint64_t> shape = {};  // NOLINT(readability-redundant-member-init)
  std::uint64_t size = 0;
  std::uint64_t address = 0x1000;
  std::uint64_t format = 2;
  // Outputs only.
  std::uint64_t output_index = 0;
  std::uint64_t original_format = 0;
};

inline std::string tlv(std::uint64_t tag, std::string_view value) {
  return little_endian(tag, 4) + little_endian(value.size(), 4) + std::string(value);
}

inline std::string dims(const std::vector<std::uint64_t>& shape) {
  std::string bytes;
  for (const std::uint64_t dim : shape) bytes += little_endian(dim, 8);
  return bytes;
}

inline std::string nano_record(const NanoTensor& t, bool is_output, std::string_view details) {
  std::string bytes = little_endian(t.data_type, 4) + little_endian(t.format, 4);
  bytes += little_endian(1, 4);  // the address' type
  if (is_output) {
    bytes += little_endian(t.output_index, 4) + little_endian(9, 4);
    bytes += little_endian(t.original_format, 4);
  }
  // The offset is one that nobody may believe.
  bytes += little_endian(t.address, 8) + little_endian(kMaxU64, 8) + little_endian(t.size, 8);
  return bytes + little_endian(details.size(), 4) + std::string(details);
}

// A record with its shape and nothing else.
inline std::string nano_input(const NanoTensor& t) {
  return nano_record(t, false, tlv(0, dims(t.shape)));
}
inline std::string nano_output(const NanoTensor& t) {
  return nano_record(t, true, tlv(0, dims(t.shape)));
}

inline std::string nano_list(std::uint64_t tag, const std::vector<std::string>& records) {
  std::string bytes = little_endian(records.size(), 4);
  for (const std::string& record : records) bytes += record;
  return tlv(tag, bytes);
}

inline std::string nano_inputs(const std::vector<std::string>& records) {
  return nano_list(4, records);
}
inline std::string nano_outputs(const std::vector<std::string>& records) {
  return nano_list(5, records);
}

// All of a file before its payloads.
inline std::string nano_header(std::string_view lists, std::uint64_t version = 1) {
  const std::string head =
      little_endian(0x5A5A5A5A, 4) + little_endian(version, 4) + std::string(lists);
  return little_endian(head.size(), 8) + head;
}

// Two inputs and an output of 48, 6 and 16 bytes, with all that a record may tell.
inline std::string nano_file() {
  const std::string details =
      tlv(0, dims({2, 2})) + tlv(1, dims({4, 1})) + tlv(2, "scope/op") + tlv(9, "later");
  return nano_header(nano_inputs({nano_input({.shape = {3, 4}, .size = 48}),
                                  nano_input({.data_type = 1, .shape = {3}, .size = 6})}) +
                     nano_outputs({nano_record({.data_type = 9, .size = 16, .output_index = 3},
                                               true, details)})) +
         std::string(48 + 6 + 16, '\x3c');
}

}  // namespace fastdump::tests
