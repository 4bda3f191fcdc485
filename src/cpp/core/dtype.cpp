#include "core/dtype.hpp"

#include <algorithm>

namespace fastdump {
namespace {

using kernels::Element;

constexpr std::string_view kNoElementSize = "strings have no fixed element size";
constexpr std::string_view kFloat6Packing = "the packing of 6-bit elements is not documented";
constexpr std::string_view kNotDocumented = "the encoding is not documented";

constexpr DataType kDataTypes[] = {
    {0, 28, "UNDEFINED", "undefined", 8, Element::none, "raw bytes of no declared type"},
    {1, 0, "FLOAT", "float32", 32, Element::float32, {}},
    {2, 1, "FLOAT16", "float16", 16, Element::float16, {}},
    {3, 2, "INT8", "int8", 8, Element::int8, {}},
    {4, 4, "UINT8", "uint8", 8, Element::uint8, {}},
    {5, 6, "INT16", "int16", 16, Element::int16, {}},
    {6, 7, "UINT16", "uint16", 16, Element::uint16, {}},
    {7, 3, "INT32", "int32", 32, Element::int32, {}},
    {8, 9, "INT64", "int64", 64, Element::int64, {}},
    {9, 8, "UINT32", "uint32", 32, Element::uint32, {}},
    {10, 10, "UINT64", "uint64", 64, Element::uint64, {}},
    {11, 12, "BOOL", "bool", 8, Element::boolean, {}},
    {12, 11, "DOUBLE", "float64", 64, Element::float64, {}},
    {13, 13, "STRING", "string", 0, Element::none, kNoElementSize},
    {14, 14, "DUAL_SUB_INT8", "int8", 8, Element::int8, {}},
    {15, 15, "DUAL_SUB_UINT8", "uint8", 8, Element::uint8, {}},
    {16, 16, "COMPLEX64", "complex64", 64, Element::complex64, {}},
    {17, 17, "COMPLEX128", "complex128", 128, Element::complex128, {}},
    {18, 18, "QINT8", "int8", 8, Element::int8, {}},
    {19, 19, "QINT16", "int16", 16, Element::int16, {}},
    {20, 20, "QINT32", "int32", 32, Element::int32, {}},
    {21, 21, "QUINT8", "uint8", 8, Element::uint8, {}},
    {22, 22, "QUINT16", "uint16", 16, Element::uint16, {}},
    {23, 23, "RESOURCE", "int64", 64, Element::int64, {}},
    {24, 24, "STRING_REF", "string_ref", 0, Element::none, kNoElementSize},
    {25, 25, "DUAL", "dual", 40, Element::none, "a float and an int8 in one element"},
    {26, 26, "VARIANT", "variant", 64, Element::none, kNotDocumented},
    {27, 27, "BF16", "bfloat16", 16, Element::bfloat16, {}},
    {28, 29, "INT4", "int4", 4, Element::int4, {}},
    {29, 30, "UINT1", "uint1", 1, Element::uint1, {}},
    {30, 31, "INT2", "int2", 2, Element::int2, {}},
    {31, 32, "UINT2", "uint2", 2, Element::uint2, {}},
    {32, 33, "COMPLEX32", "complex32", 32, Element::complex32, {}},
    {33, 34, "HIFLOAT8", "hifloat8", 8, Element::hifloat8, {}},
    {34, 35, "FLOAT8_E5M2", "float8_e5m2", 8, Element::float8_e5m2, {}},
    {35, 36, "FLOAT8_E4M3FN", "float8_e4m3fn", 8, Element::float8_e4m3fn, {}},
    {36, 37, "FLOAT8_E8M0", "float8_e8m0fnu", 8, Element::float8_e8m0fnu, {}},
    {37, 38, "FLOAT6_E3M2", "float6_e3m2fn", 6, Element::none, kFloat6Packing},
    {38, 39, "FLOAT6_E2M3", "float6_e2m3fn", 6, Element::none, kFloat6Packing},
    {39, 40, "FLOAT4_E2M1", "float4_e2m1fn", 4, Element::float4_e2m1fn, {}},
    {40, 41, "FLOAT4_E1M2", "float4_e1m2", 4, Element::float4_e1m2, {}},
    {41, 42, "HIFLOAT4", "hifloat4", 4, Element::none, kNotDocumented},
    {42, -1, "HIFLOAT4_SCALE", "hifloat4_scale", 0, Element::none, kNotDocumented},
};

// A number is an index; a type has either an encoding, of the same size, or a caveat.
constexpr bool is_consistent() {
  int number = 0;
  for (const DataType& type : kDataTypes) {
    const bool reducible = type.element != Element::none;
    if (type.number != number++ || reducible != type.caveat.empty()) return false;
    if (reducible && type.bits != kernels::element_bits(type.element)) return false;
  }
  return true;
}
static_assert(is_consistent());

}  // namespace

std::span<const DataType> data_types() { return kDataTypes; }

const DataType* find_data_type(std::int64_t number) {
  const bool known = number >= 0 && number < std::ssize(kDataTypes);
  return known ? &kDataTypes[number] : nullptr;
}

const DataType* find_ge_data_type(std::int64_t number) {
  if (number < 0) return nullptr;
  const auto found = std::ranges::find(kDataTypes, number, &DataType::ge_number);
  return found != std::end(kDataTypes) ? found : nullptr;
}

const DataType* find_data_type(std::string_view name) {
  const auto found = std::ranges::find(kDataTypes, name, &DataType::name);
  return found != std::end(kDataTypes) ? found : nullptr;
}

}  // namespace fastdump
