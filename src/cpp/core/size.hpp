// Arithmetic on sizes that come from files, the one home of it. What does not fit 64 bits becomes
// kTooLarge, which no size that exists is equal to, and stays so.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace fastdump {

using Shape = std::vector<std::uint64_t>;

inline constexpr std::uint64_t kTooLarge = std::numeric_limits<std::uint64_t>::max();

constexpr std::uint64_t add(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? kTooLarge : sum;
}

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

// The number of elements of a shape without negative dimensions: 0 if any dimension is, whatever
// the others multiply to.
template <std::integral Dim>
constexpr std::uint64_t count_elements(std::span<const Dim> shape) {
  std::uint64_t n = 1;
  for (const Dim dim : shape) {
    if (dim == 0) return 0;
    n = multiply(n, static_cast<std::uint64_t>(dim));
  }
  return n;
}

constexpr std::uint64_t count_elements(const Shape& shape) {
  return count_elements(std::span<const std::uint64_t>(shape));
}

// How many bytes n packed elements take: ceil(n * bits / 8).
constexpr std::uint64_t packed_nbytes(std::uint64_t n_elements, int bits) {
  // Eight elements fill `bits` bytes exactly, so only the last few need rounding.
  const auto size = static_cast<std::uint64_t>(bits);
  return add(multiply(n_elements / 8, size), divide_up(n_elements % 8 * size, 8));
}

// How many whole elements so many bytes hold: floor(nbytes * 8 / bits).
constexpr std::uint64_t whole_elements(std::uint64_t nbytes, int bits) {
  const auto size = static_cast<std::uint64_t>(bits);
  return add(multiply(nbytes / size, 8), nbytes % size * 8 / size);
}

// "2x19x3x5", or "()" for a scalar.
template <std::integral Dim>
std::string shape_text(std::span<const Dim> shape) {
  std::string text;
  for (const Dim dim : shape) {
    if (!text.empty()) text += 'x';
    text += std::to_string(dim);
  }
  return text.empty() ? "()" : text;
}

inline std::string shape_text(const Shape& shape) {
  return shape_text(std::span<const std::uint64_t>(shape));
}

}  // namespace fastdump
