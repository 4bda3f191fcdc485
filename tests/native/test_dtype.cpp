// Numbers, names and sizes of element types and formats.

#include <cstdint>

#include "check.hpp"
#include "core/dtype.hpp"
#include "core/formats/tensor_format.hpp"
#include "core/size.hpp"

namespace fastdump {
namespace {

using namespace tests;

void test_data_types() {
  CHECK_EQ(data_types().size(), 43U);
  CHECK_EQ(find_data_type(1)->name, "float32");
  CHECK_EQ(find_data_type(27)->name, "bfloat16");
  CHECK_EQ(find_data_type(36)->cann_name, "FLOAT8_E8M0");
  CHECK_EQ(find_data_type(36)->name, "float8_e8m0fnu");
  CHECK(find_data_type(-1) == nullptr);
  CHECK(find_data_type(43) == nullptr);
  CHECK(find_data_type(INT64_MAX) == nullptr);
  CHECK_EQ(find_data_type("int8")->number, 3);  // not DUAL_SUB_INT8, not QINT8
  CHECK_EQ(find_data_type("int64")->number, 8);
  CHECK(find_data_type("float") == nullptr);
  for (const DataType& type : data_types()) {
    CHECK_EQ(find_data_type(type.number), &type);
    CHECK(!type.name.empty() && !type.cann_name.empty());
  }
  for (const int number : {0, 13, 24, 25, 26, 37, 38, 41, 42}) {
    CHECK(find_data_type(number)->element == kernels::Element::none);
    CHECK(!find_data_type(number)->caveat.empty());
  }
}

void test_packed_nbytes() {
  CHECK_EQ(packed_nbytes(0, 32), 0U);
  CHECK_EQ(packed_nbytes(3, 32), 12U);
  CHECK_EQ(packed_nbytes(3, 4), 2U);
  CHECK_EQ(packed_nbytes(9, 1), 2U);
  CHECK_EQ(packed_nbytes(5, 6), 4U);
  CHECK_EQ(packed_nbytes(UINT64_MAX, 8), UINT64_MAX);
  CHECK_EQ(packed_nbytes(UINT64_MAX, 1), (std::uint64_t{1} << 61));
  CHECK_EQ(packed_nbytes(UINT64_MAX / 16 + 1, 128), UINT64_MAX);
  CHECK_EQ(packed_nbytes(UINT64_MAX / 2, 16), UINT64_MAX - 1);
  CHECK_EQ(packed_nbytes(UINT64_MAX / 2 + 1, 16), UINT64_MAX);
}

void test_tensor_formats() {
  CHECK_EQ(tensor_formats().size(), 55U);
  CHECK_EQ(tensor_format_name(0), "NCHW");
  CHECK_EQ(tensor_format_name(2), "ND");
  CHECK_EQ(tensor_format_name(29), "FRACTAL_NZ");
  CHECK_EQ(tensor_format_name(45), "NYUV");
  CHECK_EQ(tensor_format_name(54), "FRACTAL_NZ_C0_8");
  CHECK_EQ(tensor_format_name(55), "");
  CHECK_EQ(tensor_format_name(-1), "");
  CHECK_EQ(tensor_format_name(255), "MAX");
}

}  // namespace
}  // namespace fastdump

int main() {
  using namespace fastdump;
  test_data_types();
  test_packed_nbytes();
  test_tensor_formats();
  return tests::exit_code();
}
