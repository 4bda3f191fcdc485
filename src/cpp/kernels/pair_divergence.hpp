// The Kullback-Leibler divergence of two tensors, in a second pass: how their elements become two
// distributions depends on the extremes that the first has found.
#pragma once

#include <cstddef>

#include "kernels/block.hpp"
#include "kernels/exact_sum.hpp"
#include "kernels/pair_block.hpp"
#include "kernels/pair_partial.hpp"

namespace fastdump::kernels {

struct DivergenceRange {
  DivergenceSide a;
  DivergenceSide b;

  // Of tensors with a finite pair.
  explicit DivergenceRange(const PairStatistics& statistics);
};

class PairDivergence {
 public:
  // Adds n pairs of packed elements. They begin at a multiple of kPairBlockElements.
  void add(const Tier& tier, const DivergenceRange& range, PairOperands operands, std::size_t n);
  void add(const PairDivergence& other);
  void clear();

  // Of b from a, in nats; what is smaller than float64's epsilon is 0. NaN if no pair is finite.
  double finish(const Tier& tier) const;

 private:
  ExactSum p_;
  ExactSum q_;
  ExactSum terms_;
};

}  // namespace fastdump::kernels
