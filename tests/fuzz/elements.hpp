// What the codes of an element type are worth, one at a time and as slowly as it may be: a second
// opinion on what the kernels make of them.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>

#include "kernels/element.hpp"

namespace fastdump::fuzz {

using kernels::Element;

// Bits [at, at + n) of some bytes, the least significant first.
inline std::uint64_t bits_at(std::span<const std::byte> bytes, std::size_t at, int n) {
  std::uint64_t value = 0;
  for (int i = 0; i < n; ++i) {
    const std::size_t bit = at + static_cast<std::size_t>(i);
    value |= (std::to_integer<std::uint64_t>(bytes[bit / 8]) >> bit % 8 & 1) << i;
  }
  return value;
}

// A sign, exponent bits and mantissa bits, with the bias of IEEE 754 and without NaN and Inf.
inline double small_float(std::uint64_t code, int n_exponent, int n_mantissa, int bias) {
  const auto mantissa = static_cast<double>(code & ((1U << n_mantissa) - 1));
  const auto exponent = static_cast<int>(code >> n_mantissa & ((1U << n_exponent) - 1));
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, 1 - bias - n_mantissa)
                    : std::ldexp(mantissa + (1 << n_mantissa), exponent - bias - n_mantissa);
  return (code >> (n_exponent + n_mantissa) & 1) != 0 ? -magnitude : magnitude;
}

// The same, with NaN and Inf in the largest exponent.
inline double ieee_float(std::uint64_t code, int n_exponent, int n_mantissa) {
  const std::uint64_t largest = (1U << n_exponent) - 1;
  if ((code >> n_mantissa & largest) != largest) {
    return small_float(code, n_exponent, n_mantissa, (1 << (n_exponent - 1)) - 1);
  }
  if ((code & ((1U << n_mantissa) - 1)) != 0) return std::numeric_limits<double>::quiet_NaN();
  const bool is_negative = (code >> (n_exponent + n_mantissa) & 1) != 0;
  return is_negative ? -std::numeric_limits<double>::infinity()
                     : std::numeric_limits<double>::infinity();
}

inline std::int64_t sign_extended(std::uint64_t code, int bits) {
  const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
  return static_cast<std::int64_t>((code ^ sign) - sign);
}

template <class Value>
double value_of(std::uint64_t code) {
  Value value;
  std::memcpy(&value, &code, sizeof value);
  return static_cast<double>(value);
}

// Empty for types of which there is no second opinion here. 64-bit integers are rounded.
inline std::optional<double> element_at(Element element, std::span<const std::byte> bytes,
                                        std::size_t i) {
  const int bits = kernels::element_bits(element);
  if (bits == 0 || bits > 64) return std::nullopt;
  const std::uint64_t code = bits_at(bytes, i * static_cast<std::size_t>(bits), bits);
  switch (element) {
    case Element::float64:
      return value_of<double>(code);
    case Element::float32:
      return value_of<float>(code);
    case Element::float16:
      return ieee_float(code, 5, 10);
    case Element::bfloat16:
      return ieee_float(code, 8, 7);
    case Element::float8_e5m2:
      return ieee_float(code, 5, 2);
    case Element::float8_e4m3fn:
      if ((code & 0x7F) == 0x7F) return std::numeric_limits<double>::quiet_NaN();
      return small_float(code, 4, 3, 7);
    case Element::float8_e8m0fnu:
      if (code == 0xFF) return std::numeric_limits<double>::quiet_NaN();
      return std::ldexp(1.0, static_cast<int>(code) - 127);
    case Element::float4_e2m1fn:
      return small_float(code, 2, 1, 1);
    case Element::int8:
    case Element::int16:
    case Element::int32:
    case Element::int64:
    case Element::int4:
    case Element::int2:
      return static_cast<double>(sign_extended(code, bits));
    case Element::uint8:
    case Element::uint16:
    case Element::uint32:
    case Element::uint64:
    case Element::uint2:
      return static_cast<double>(code);
    case Element::boolean:
      return code != 0 ? 1.0 : 0.0;
    default:
      return std::nullopt;
  }
}

// How many bytes n packed elements take.
inline std::size_t packed_size(Element element, std::size_t n) {
  return (n * static_cast<std::size_t>(kernels::element_bits(element)) + 7) / 8;
}

}  // namespace fastdump::fuzz
