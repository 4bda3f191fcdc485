// Arithmetic on sizes that come from a file. What does not fit becomes kTooLarge, which no size
// that exists is equal to, and stays so.
#pragma once

#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace fastdump {

using Shape = std::vector<std::uint64_t>;

inline constexpr std::uint64_t kTooLarge = std::numeric_limits<std::uint64_t>::max();

constexpr std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kTooLarge : product;
}

constexpr std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

constexpr std::uint64_t least_common_multiple(std::uint64_t a, std::uint64_t b) {
  return multiply(a / std::gcd(a, b), b);
}

// 0 if any dimension is, whatever the others multiply to.
constexpr std::uint64_t count_elements(std::span<const std::uint64_t> shape) {
  std::uint64_t n = 1;
  for (const std::uint64_t dim : shape) {
    if (dim == 0) return 0;
    n = multiply(n, dim);
  }
  return n;
}

// "2x19x3x5"
inline std::string to_text(std::span<const std::uint64_t> shape) {
  std::string text;
  for (const std::uint64_t dim : shape) {
    if (!text.empty()) text += 'x';
    text += std::to_string(dim);
  }
  return text.empty() ? "()" : text;
}

}  // namespace fastdump
