// Decimal numbers in the names of files and directories: digits and nothing else.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace fastdump {

constexpr bool is_decimal(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// Empty for text that is no decimal number and for a number that does not fit.
inline std::optional<std::int64_t> parse_decimal(std::string_view text) {
  std::int64_t value = 0;
  if (!is_decimal(text)) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} ? std::optional(value) : std::nullopt;
}

}  // namespace fastdump
