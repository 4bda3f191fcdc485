#include "kernels/exact_sum.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace fastdump::kernels {
namespace {

__extension__ using Uint128 = unsigned __int128;  // GCC and clang have it, the standard does not

// Leaves the rounded sum of n values, a power of two, in the first, and in the others what rounding
// lost on the way, which a float64 always holds.
void fold(double* values, std::size_t n) {
  for (std::size_t half = n / 2; half != 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) {
      const double a = values[i];
      const double b = values[half + i];
      const double sum = a + b;
      const double from_b = sum - a;
      values[i] = sum;
      values[half + i] = (a - (sum - from_b)) + (b - from_b);
    }
  }
}

// Moves what does not fit into a digit of 32 bits on to the next limb. Returns the limbs' end.
int carry_up(std::int64_t* limbs, int low, int high) {
  constexpr int kBits = 32;
  std::int64_t carried = 0;
  for (int i = low; i < high; ++i) {
    const std::int64_t total = limbs[i] + carried;
    // The highest limb keeps the sign for as long as it is small.
    const bool top = i == high - 1;
    if (top && total >= INT32_MIN && total <= INT32_MAX) {
      limbs[i] = total;
      break;
    }
    carried = total >> kBits;  // floor: digits become non-negative, the sign moves up
    limbs[i] = total - carried * (std::int64_t{1} << kBits);
    if (top) limbs[high++] = 0;
  }
  return high;
}

}  // namespace

void ExactSum::add(double (&values)[kValues], int exponent) {
  // Of values that are alike all is in the first sum, or in that of what it lost.
  for (int round = 0; round < 2; ++round) {
    fold(values, kValues);
    add(values[0], exponent);
    values[0] = 0;
    if (std::ranges::all_of(values, [](double lost) { return lost == 0; })) return;
  }
  for (const double lost : values) add(lost, exponent);
}

void ExactSum::add(double value, int exponent) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const int biased = static_cast<int>((bits >> 52) & 0x7ff);
  std::uint64_t mantissa = bits & 0x000fffffffffffff;
  if (biased == 0 && mantissa == 0) return;
  if (biased != 0) mantissa |= 0x0010000000000000;
  // |value| = mantissa * 2^(biased - 1075), subnormals as if biased were 1.
  const int position = (biased == 0 ? 1 : biased) - 1075 + exponent - kLowestExponent;
  const int limb = position / kDigitBits;
  const auto shifted = static_cast<Uint128>(mantissa) << (position % kDigitBits);
  const std::int64_t sign = (bits >> 63) != 0 ? -1 : 1;
  limbs_[limb] += sign * static_cast<std::int64_t>(static_cast<std::uint32_t>(shifted));
  limbs_[limb + 1] += sign * static_cast<std::int64_t>(static_cast<std::uint32_t>(shifted >> 32));
  limbs_[limb + 2] += sign * static_cast<std::int64_t>(static_cast<std::uint32_t>(shifted >> 64));
  low_ = std::min(low_, limb);
  high_ = std::max(high_, limb + 3);
  if (++pending_ >= kMaxPending) carry();
}

void ExactSum::add(const ExactSum& other) {
  if (pending_ + other.pending_ >= kMaxPending) carry();
  for (int i = other.low_; i < other.high_; ++i) limbs_[i] += other.limbs_[i];
  low_ = std::min(low_, other.low_);
  high_ = std::max(high_, other.high_);
  pending_ += other.pending_ + 1;
}

void ExactSum::clear() {
  for (int i = low_; i < high_; ++i) limbs_[i] = 0;
  low_ = kLimbs;
  high_ = 0;
  pending_ = 0;
}

void ExactSum::carry() {
  high_ = carry_up(limbs_, low_, high_);
  pending_ = 1;
}

double ExactSum::value(int exponent) const {
  std::int64_t digits[kLimbs];  // those in use are copied: a few of many
  std::copy(limbs_ + low_, limbs_ + std::max(low_, high_), digits + low_);
  int high = carry_up(digits, low_, high_);
  // The sign of the highest limb that is not zero is the sign of the sum.
  int top = high - 1;
  while (top >= low_ && digits[top] == 0) --top;
  if (top < low_) return 0.0;
  const bool negative = digits[top] < 0;
  if (negative) {
    for (int i = low_; i < high; ++i) digits[i] = -digits[i];
    high = carry_up(digits, low_, high);
    top = high - 1;
    while (digits[top] == 0) --top;
  }
  // 128 leading bits hold at least 65 significant ones; what lies below only breaks ties.
  Uint128 leading = 0;
  for (int i = top; i > top - 4; --i) {
    const std::int64_t digit = i >= low_ ? digits[i] : 0;
    leading = (leading << kDigitBits) | static_cast<std::uint32_t>(digit);
  }
  bool sticky = false;
  for (int i = low_; i <= top - 4; ++i) sticky |= digits[i] != 0;
  int scale = (top - 3) * kDigitBits + kLowestExponent + exponent;
  const int zeros = leading >> 64 != 0 ? std::countl_zero(static_cast<std::uint64_t>(leading >> 64))
                                       : 64 + std::countl_zero(static_cast<std::uint64_t>(leading));
  leading <<= zeros;
  scale -= zeros;
  // value = leading * 2^scale with the top bit of 128 set. Keep 53 bits, fewer if it is subnormal.
  const int top_exponent = scale + 127;
  const int kept = std::clamp(top_exponent + 1075, 0, 53);
  std::uint64_t mantissa = 0;
  if (kept > 0) mantissa = static_cast<std::uint64_t>(leading >> (128 - kept));
  const Uint128 rest = kept > 0 ? leading << kept : leading;
  const auto half = static_cast<Uint128>(1) << 127;
  if (top_exponent >= -1075) {
    const bool above = rest > half || (rest == half && sticky);
    if (above || (rest == half && (mantissa & 1) != 0)) ++mantissa;
  }
  const double magnitude = std::ldexp(static_cast<double>(mantissa), scale + 128 - kept);
  return negative ? -magnitude : magnitude;
}

}  // namespace fastdump::kernels
