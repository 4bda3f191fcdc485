#include "core/formats/statistics_cell.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <system_error>

#include "core/decimal.hpp"
#include "core/formats/dump_data.hpp"
#include "core/formats/tensor_format.hpp"

namespace fastdump {
namespace {

// Longer than the largest float64 written in full.
constexpr std::size_t kMaxNumberBytes = 512;

constexpr char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, to_lower, to_lower);
}

template <class Number>
std::errc parse_whole(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = end == text.data() + text.size();
  return error == std::errc{} && !is_whole ? std::errc::invalid_argument : error;
}

// -1, and the two's complement that writers of unsigned dimensions make of it, are unknown.
std::optional<std::int64_t> parse_dim(std::string_view text) {
  std::int64_t dim = 0;
  if (text == "-1" || text == "18446744073709551615") return -1;
  if (!is_decimal(text) || parse_whole(text, dim) != std::errc{}) return std::nullopt;
  return dim;
}

}  // namespace

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  return std::ranges::equal(text, lower, {}, to_lower);
}

bool is_unreported(std::string_view cell) {
  constexpr std::string_view kWords[] = {"", "-", "na", "n/a", "null", "none", "unknow", "unknown"};
  return std::ranges::any_of(
      kWords, [&](std::string_view word) { return equals_ignoring_case(cell, word); });
}

std::optional<std::uint64_t> parse_unsigned(std::string_view cell) {
  std::uint64_t value = 0;
  if (!is_decimal(cell) || parse_whole(cell, value) != std::errc{}) return std::nullopt;
  return value;
}

std::optional<double> parse_real(std::string_view cell) {
  if (cell.size() > kMaxNumberBytes) return std::nullopt;
  double value = 0;
  const std::errc error = parse_whole(cell, value);
  if (error == std::errc{}) return value;
  if (error != std::errc::result_out_of_range) return std::nullopt;
#ifdef __GLIBCXX__
  // The library of GCC 11 says that of subnormal numbers, too.
  long double wide = 0;
  if (parse_whole(cell, wide) != std::errc{}) return std::nullopt;
  value = static_cast<double>(wide);
  if (std::isfinite(value) && value != 0) return value;
#endif
  return std::nullopt;
}

bool is_beyond_float64(std::string_view cell, double value) {
  constexpr double kExact = 9007199254740992;  // 2^53, which is the last one
  const std::string_view digits = cell.starts_with('-') ? cell.substr(1) : cell;
  return std::abs(value) >= kExact && is_decimal(digits) && digits != "9007199254740992";
}

std::optional<std::vector<std::int64_t>> parse_shape(std::string_view cell) {
  char separator = 'x';
  if (cell.size() >= 2 && cell.front() == '(' && cell.back() == ')') {
    separator = ',';
    cell = cell.substr(1, cell.size() - 2);
    // A tuple of one: "(3,)".
    if (cell.ends_with(',')) cell.remove_suffix(1);
    if (cell.empty()) return std::vector<std::int64_t>{};
  }
  std::vector<std::int64_t> shape;
  for (;;) {
    const std::size_t end = cell.find(separator);
    std::string_view text = cell.substr(0, end);
    while (text.starts_with(' ')) text.remove_prefix(1);
    const auto dim = parse_dim(text);
    if (!dim || shape.size() == kMaxDims) return std::nullopt;
    shape.push_back(*dim);
    if (end == std::string_view::npos) return shape;
    cell.remove_prefix(end + 1);
  }
}

const DataType* parse_data_type(std::string_view cell) {
  if (equals_ignoring_case(cell.substr(0, 3), "dt_")) cell.remove_prefix(3);
  for (const auto name : {&DataType::cann_name, &DataType::name}) {
    const auto found = std::ranges::find_if(
        data_types(), [&](const DataType& type) { return equal_ignoring_case(cell, type.*name); });
    if (found != data_types().end()) return &*found;
  }
  return nullptr;
}

std::optional<std::int64_t> parse_format(std::string_view cell) {
  constexpr std::string_view kPrefix = "format_";
  if (equals_ignoring_case(cell.substr(0, kPrefix.size()), kPrefix)) {
    cell.remove_prefix(kPrefix.size());
  }
  const auto names = tensor_formats();
  const auto found = std::ranges::find_if(
      names, [&](std::string_view name) { return equal_ignoring_case(cell, name); });
  if (found == names.end()) return std::nullopt;
  return std::distance(names.begin(), found);
}

}  // namespace fastdump
