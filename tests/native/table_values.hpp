// The values of a table's columns, read from the buffers that Arrow defines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/table/table.hpp"

namespace fastdump::tests {

inline const Column& column(const Table& table, std::string_view name) {
  for (const NamedColumn& named : table.columns) {
    if (named.name == name) return *named.column;
  }
  throw std::out_of_range(std::string(name));
}

// The buffer after the validity, and the one after that.
template <class Value>
Value value(const Table& table, std::string_view name, std::size_t row, std::size_t buffer = 1) {
  return static_cast<const Value*>(column(table, name).buffers().at(buffer))[row];
}

// Offset i of a column of texts or lists, which are of 64 bits in a long one.
inline std::int64_t offset(const Table& table, std::string_view name, std::size_t i) {
  const std::string_view format = column(table, name).arrow_format();
  const bool is_wide = format == "U" || format == "+L";
  return is_wide ? value<std::int64_t>(table, name, i) : value<std::int32_t>(table, name, i);
}

inline std::string_view text(const Table& table, std::string_view name, std::size_t row) {
  const std::int64_t begin = offset(table, name, row);
  const std::int64_t end = offset(table, name, row + 1);
  const auto* bytes = static_cast<const char*>(column(table, name).buffers().at(2));
  return {bytes + begin, static_cast<std::size_t>(end - begin)};
}

inline bool is_null(const Table& table, std::string_view name, std::size_t row) {
  const auto* bits = static_cast<const std::uint8_t*>(column(table, name).buffers().at(0));
  return bits != nullptr && (bits[row / 8] >> row % 8 & 1) == 0;
}

}  // namespace fastdump::tests
