// A sum of float64 values without rounding: a fixed-point number wide enough for every product of
// two float64 values. Adding is exact, so order and grouping never show in the result.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fastdump::kernels {

class ExactSum {
 public:
  // Adds value * 2^exponent. value must be finite, |exponent| <= 2 * kScaleExponent.
  void add(double value, int exponent = 0);
  // All of kValues at once: much faster than one by one if most of them are alike. Overwrites them.
  static constexpr std::size_t kValues = 32;
  void add(double (&values)[kValues], int exponent);
  void add(const ExactSum& other);
  void clear();

  // The sum times 2^exponent, correctly rounded to float64; infinite if it exceeds the range.
  double value(int exponent = 0) const;

  // Blocks of very large or very small float64 values are summed after scaling by this power of
  // two.
  static constexpr int kScaleExponent = 600;

 private:
  // Digits of 32 bits in 64-bit limbs: 2^31 additions fit before a carry must move on. A sum that
  // is merged may bring half of them at once.
  static constexpr int kDigitBits = 32;
  static constexpr std::uint32_t kMaxPending = std::uint32_t{1} << 30;
  // From the square of the smallest scaled value up to 2^63 squares of the largest.
  static constexpr int kLowestExponent = -2304;
  static constexpr int kLimbs = (2304 + 2048 + 128) / kDigitBits;

  void carry();

  std::int64_t limbs_[kLimbs] = {};
  int low_ = kLimbs;  // limbs outside [low_, high_) are zero
  int high_ = 0;
  std::uint32_t pending_ = 0;  // additions since the last carry
};

}  // namespace fastdump::kernels
