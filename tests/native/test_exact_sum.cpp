// The exact sum against sums that are known, and against itself in another order.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "check.hpp"
#include "corpus.hpp"
#include "kernels/exact_sum.hpp"

namespace fastdump {
namespace {

using kernels::ExactSum;
constexpr double kMax = std::numeric_limits<double>::max();
constexpr double kTiny = std::numeric_limits<double>::denorm_min();
constexpr double kInf = std::numeric_limits<double>::infinity();

double sum_of(const std::vector<double>& values) {
  ExactSum sum;
  for (const double value : values) sum.add(value);
  return sum.value();
}

void test_known_sums() {
  CHECK_EQ(sum_of({}), 0.0);
  CHECK_EQ(sum_of({0.0, -0.0}), 0.0);
  CHECK_EQ(sum_of({1.5}), 1.5);
  CHECK_EQ(sum_of({-1.5}), -1.5);
  CHECK_EQ(sum_of({kTiny}), kTiny);
  CHECK_EQ(sum_of({-kTiny}), -kTiny);
  CHECK_EQ(sum_of({kMax}), kMax);
  CHECK_EQ(sum_of({-kMax}), -kMax);
  CHECK_EQ(sum_of({kMax, kMax}), kInf);
  CHECK_EQ(sum_of({kMax, kMax, -kMax}), kMax);
  CHECK_EQ(sum_of({kMax, kTiny, -kMax}), kTiny);
  CHECK_EQ(sum_of({1e100, 1.0, -1e100}), 1.0);
  CHECK_EQ(sum_of({-1e100, -1.0, 1e100}), -1.0);
  CHECK_EQ(sum_of({1.0, -1.0}), 0.0);
}

// Halves go to even, and one bit far below decides otherwise.
void test_rounding() {
  const double ulp = 0x1p-52;
  CHECK_EQ(sum_of({1.0, ulp / 2}), 1.0);
  CHECK_EQ(sum_of({1.0, ulp / 2, kTiny}), 1.0 + ulp);
  CHECK_EQ(sum_of({1.0, ulp / 2, -kTiny}), 1.0);
  CHECK_EQ(sum_of({1.0 + ulp, ulp / 2}), 1.0 + 2 * ulp);
  CHECK_EQ(sum_of({-1.0, -ulp / 2, -kTiny}), -(1.0 + ulp));
  // Into the subnormal range, where fewer bits are kept.
  ExactSum three_quarters;
  three_quarters.add(0.75);
  CHECK_EQ(three_quarters.value(-1073), 2 * kTiny);  // 1.5 of the smallest: to even
  CHECK_EQ(three_quarters.value(-1074), kTiny);
  CHECK_EQ(three_quarters.value(-1075), 0.0);  // below half of the smallest
}

void test_scaled() {
  ExactSum sum;
  sum.add(3.0, 2 * ExactSum::kScaleExponent);
  CHECK_EQ(sum.value(), kInf);
  CHECK_EQ(sum.value(-2 * ExactSum::kScaleExponent), 3.0);
  sum.clear();
  CHECK_EQ(sum.value(), 0.0);
  sum.add(3.0, -2 * ExactSum::kScaleExponent);
  CHECK_EQ(sum.value(), 0.0);
  CHECK_EQ(sum.value(2 * ExactSum::kScaleExponent), 3.0);
}

// Any finite values: x and -x cancel whatever the order and however they are grouped.
void test_order_and_grouping() {
  tests::Random random;
  std::vector<double> values;
  while (values.size() < 4000) {
    const std::uint64_t bits = random.next();
    double value;
    std::memcpy(&value, &bits, 8);
    if (std::isfinite(value)) values.push_back(value);
  }
  const double forward = sum_of(values);
  std::reverse(values.begin(), values.end());
  CHECK_EQ(sum_of(values), forward);
  ExactSum odd;
  ExactSum even;
  for (std::size_t i = 0; i < values.size(); ++i) (i % 2 == 0 ? even : odd).add(values[i]);
  odd.add(even);
  CHECK_EQ(odd.value(), forward);
  for (const double value : values) odd.add(-value);
  CHECK_EQ(odd.value(), 0.0);
}

// Whole numbers against 128-bit integers, through many carries of both signs.
void test_integers() {
  tests::Random random;
  ExactSum sum;
  __extension__ __int128 expected = 0;
  for (int i = 0; i < 200000; ++i) {
    const auto value = static_cast<std::int64_t>(random.next()) >> (i % 40 + 11);
    expected += value;
    sum.add(static_cast<double>(value));
    if (i % 1000 == 0) {
      ExactSum copy;
      copy.add(sum);
      CHECK_EQ(copy.value(), static_cast<double>(expected));
    }
  }
  CHECK_EQ(sum.value(), static_cast<double>(expected));
}

}  // namespace
}  // namespace fastdump

int main() {
  fastdump::test_known_sums();
  fastdump::test_rounding();
  fastdump::test_scaled();
  fastdump::test_order_and_grouping();
  fastdump::test_integers();
  return fastdump::tests::exit_code();
}
