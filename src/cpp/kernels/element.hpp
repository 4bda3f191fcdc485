// The element encodings that the kernels can reduce. An Element says how bytes become numbers;
// which file format uses which number for it is the core's business (core/dtype.hpp).
#pragma once

#include <cstdint>

namespace fastdump::kernels {

enum class Element : std::uint8_t {
  none,  // no documented encoding: described, never reduced
  float32,
  float16,
  bfloat16,
  float64,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  boolean,    // one byte, any non-zero byte is true
  complex32,  // two float16
  complex64,
  complex128,
  float8_e4m3fn,
  float8_e5m2,
  float8_e8m0fnu,
  hifloat8,
  float4_e2m1fn,  // two in a byte, low nibble first
  float4_e1m2,
  int4,
  int2,  // four in a byte, low bits first
  uint2,
  uint1,  // eight in a byte, most significant bit first
};

inline constexpr int kElementCount = static_cast<int>(Element::uint1) + 1;

constexpr bool is_complex(Element element) {
  return element == Element::complex32 || element == Element::complex64 ||
         element == Element::complex128;
}

constexpr int element_bits(Element element) {
  switch (element) {
    case Element::none:
      return 0;
    case Element::uint1:
      return 1;
    case Element::int2:
    case Element::uint2:
      return 2;
    case Element::float4_e2m1fn:
    case Element::float4_e1m2:
    case Element::int4:
      return 4;
    case Element::int8:
    case Element::uint8:
    case Element::boolean:
    case Element::float8_e4m3fn:
    case Element::float8_e5m2:
    case Element::float8_e8m0fnu:
    case Element::hifloat8:
      return 8;
    case Element::float16:
    case Element::bfloat16:
    case Element::int16:
    case Element::uint16:
      return 16;
    case Element::float32:
    case Element::int32:
    case Element::uint32:
    case Element::complex32:
      return 32;
    case Element::float64:
    case Element::int64:
    case Element::uint64:
    case Element::complex64:
      return 64;
    case Element::complex128:
      return 128;
  }
  return 0;
}

}  // namespace fastdump::kernels
