// The contract of the kernels: what one block of elements reduces to, how packed elements become
// bytes, and the table of functions that every instruction-set tier fills. Plain data, no
// allocation, no exceptions.
//
// Numerics. Every moment is over the finite elements, everything else is counted. Element i of a
// block belongs to a lane that depends on i and the element type alone, each lane adds its elements
// in order, in float64, and never contracts a product with a sum. So every tier computes the same
// bits. Lanes and blocks are then added without rounding (exact_sum.hpp), so neither their number
// nor their order shows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/element.hpp"
#include "kernels/pair_block.hpp"

namespace fastdump::kernels {

// As many chains of additions as it takes to hide the latency of one in the widest registers.
inline constexpr std::size_t kLanes = 32;

// A block fits the second-level cache. A lane of it adds 2048 elements at most: an error of
// 2.3e-13, a quarter of what is promised.
inline constexpr std::size_t kBlockBytes = 256 * 1024;
inline constexpr std::size_t kMaxBlockElements = 65536;

constexpr std::size_t block_elements(Element element) {
  const auto bits = static_cast<std::size_t>(element_bits(element));
  const std::size_t n = bits == 0 ? kMaxBlockElements : kBlockBytes * 8 / bits;
  return n < kMaxBlockElements ? n : kMaxBlockElements;
}

enum class Level : std::uint8_t { health, basic, full };
inline constexpr int kLevelCount = 3;

// An extreme, exact for every element type.
union Number {
  double f64;
  std::int64_t i64;
  std::uint64_t u64;
};

enum class NumberKind : std::uint8_t { f64, i64, u64 };

constexpr NumberKind number_kind(Element element) {
  switch (element) {
    case Element::int8:
    case Element::int16:
    case Element::int32:
    case Element::int64:
    case Element::int4:
    case Element::int2:
      return NumberKind::i64;
    case Element::uint8:
    case Element::uint16:
    case Element::uint32:
    case Element::uint64:
    case Element::boolean:
    case Element::uint2:
    case Element::uint1:
      return NumberKind::u64;
    default:
      return NumberKind::f64;
  }
}

struct Block {
  // The sum of the finite elements is 2^sum_exponent times the sum of `sum`; likewise the squares.
  alignas(64) double sum[kLanes];
  alignas(64) double sum_squares[kLanes];
  int sum_exponent;
  int squares_exponent;
  Number max;  // of the finite elements; undefined if there is none
  Number min;
  std::uint64_t nan;
  std::uint64_t pos_inf;
  std::uint64_t neg_inf;
  // Level full:
  std::uint64_t zero;
  std::uint64_t subnormal;
  std::uint64_t saturated;
  double min_abs;          // the smallest magnitude of the finite elements that is not 0; 0: none
  std::int64_t first_bad;  // index in the block of the first NaN or Inf; -1: none
};

// Reduces n <= block_elements() packed elements at data, which need no alignment.
using BlockFunction = void (*)(const std::byte* data, std::size_t n, Block& block);

// Writes n packed elements at data as their codes, one a byte, the bits above a code zero.
using UnpackFunction = void (*)(const std::byte* data, std::size_t n, std::byte* out);

struct Tier {
  const char* name;
  // nullptr where there is nothing to compute: no encoding, or health of types without NaN and Inf.
  BlockFunction reduce[kElementCount][kLevelCount];
  // nullptr for elements of whole bytes.
  UnpackFunction unpack[kElementCount];
  PairKernels pairs;
};

}  // namespace fastdump::kernels
