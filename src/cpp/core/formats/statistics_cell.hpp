// Cells of a statistics CSV as the values that they stand for. The locale plays no part.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/dtype.hpp"

namespace fastdump {

// `lower` has no upper-case letter. ASCII only.
bool equals_ignoring_case(std::string_view text, std::string_view lower);

// What writers put where they have no value: nothing, "-", "NA", "null", "UNKNOW".
bool is_unreported(std::string_view cell);

// Each is empty if the cell is something else.

std::optional<std::uint64_t> parse_unsigned(std::string_view cell);

// Also "nan", "-nan", "inf" and "-inf". Empty for a finite number too large for float64.
std::optional<double> parse_real(std::string_view cell);

// Whether the cell is written as an integer that float64 may have to round.
bool is_beyond_float64(std::string_view cell, double value);

// "4x50x50x16" of CANN, "(4,50)" of MindSpore, "()" for a scalar. An unknown dimension is -1.
std::optional<std::vector<std::int64_t>> parse_shape(std::string_view cell);

// "DT_FLOAT16", "FLOAT16", "float16"; nullptr if the type is not known.
const DataType* parse_data_type(std::string_view cell);

// "NC1HWC0", with or without "FORMAT_".
std::optional<std::int64_t> parse_format(std::string_view cell);

}  // namespace fastdump
