// The contract of the kernels that compare: what one block of pairs of elements reduces to, and the
// functions that every instruction-set tier fills. Plain data, no allocation, no exceptions.
//
// Numerics. A pair is an element x of tensor a and the element y beside it in tensor b, the
// reference, both as float64 whatever their types. Every moment is over the pairs in which both are
// finite, everything else is counted. Pair i of a block belongs to lane i % kPairLanes, each lane
// adds its pairs in order, in float64, and never contracts a product with a sum unless the product
// is exact. So every tier computes the same bits. Blocks are then added without rounding.
//
// Of complex elements x and y are the magnitudes, |x - y| is the magnitude of the difference and
// x * y the real part of x times y's conjugate. Of int64 with int64, and of uint64 with uint64,
// |x - y| is exact although x and y are rounded.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/element.hpp"

namespace fastdump::kernels {

inline constexpr std::size_t kPairLanes = 8;

// A block of both sides fits the first-level cache, or the second, where it is reduced again in
// some cases. A lane adds 1024 pairs at most: an error of 1.2e-13.
inline constexpr std::size_t kPairBlockElements = 8192;

// Packed elements of any two types.
struct PairOperands {
  Element a;
  Element b;
  const std::byte* data_a;
  const std::byte* data_b;
};

// x is close to y if |x - y| <= absolute + relative * |y|. Both are finite and not negative.
struct Tolerance {
  double relative;
  double absolute;
};

struct PairSide {
  // Sums of x - pivot, and of its square. The pivot is 0 unless values lie so far from 0, compared
  // with their spread, that their squares would hide it.
  double sum;
  double squares;
  double pivot;  // at most 24 significant bits
  double max;    // undefined if no pair is finite
  double min;
  int exponent;  // sum and pivot are so many powers of two smaller, squares twice as many
};

struct PairBlock {
  PairSide a;
  PairSide b;
  double products;  // sum of x * y, times 2^-(a.exponent + b.exponent)
  // Of |x - y|, times 2^-error_exponent; squares twice.
  double error_sum;
  double error_squares;
  double error_max;
  int error_exponent;
  // Of |x - y| / |y| where |y| exceeds float64's epsilon, 0 elsewhere; times 2^-relative_exponent.
  double relative_sum;
  double relative_max;
  int relative_exponent;
  // Pairs that are not close. With a NaN or Inf only the same infinity twice, and NaN twice, are.
  std::uint64_t mismatched;
  std::uint64_t only_a_bad;  // NaN or Inf in a, a finite element in b
  std::uint64_t only_b_bad;
  std::uint64_t both_bad;
  // The most values of the type that lie from x to y, both finite; of int64 and uint64 the largest
  // |x - y|. 0 unless both are of one such type.
  std::uint64_t ulp_max;
  bool same_bits;  // both are of one type, and all bits agree
};

// Indices in a block.
struct PairPlaces {
  std::int64_t mismatch;   // of the first pair that is not close; -1: none
  std::int64_t error_max;  // of the first pair whose |x - y| is the block's largest; -1: none
};

// How the elements of one side become the terms of a distribution.
struct DivergenceSide {
  double scale;  // a power of two that keeps the range finite
  double min;    // times scale
  double range;  // max - min, times scale; 0: all elements are equal
};

// p and q are (x - min) / (max - min) of each side, 1 where the range is 0, and at least float32's
// epsilon.
struct DivergenceBlock {
  double p;      // sum of p
  double q;      // sum of q
  double terms;  // sum of p * ln(p / q)
};

struct PairKernels {
  // n <= kPairBlockElements. `expect_bad` chooses the faster order of work for data with NaN or
  // Inf; it never changes the result.
  void (*compare)(const PairOperands& operands, std::size_t n, const Tolerance& tolerance,
                  bool expect_bad, PairBlock& block);
  // Looks again at what gave `block`.
  PairPlaces (*locate)(const PairOperands& operands, std::size_t n, const Tolerance& tolerance,
                       const PairBlock& block);
  void (*diverge)(const PairOperands& operands, std::size_t n, const DivergenceSide& a,
                  const DivergenceSide& b, DivergenceBlock& block);
  // The natural logarithm of a positive, normal number: the same bits on every machine.
  double (*logarithm)(double x);
};

}  // namespace fastdump::kernels
