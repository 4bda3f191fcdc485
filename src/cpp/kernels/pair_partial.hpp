// Partial results of comparing two tensors: what some blocks of pairs reduce to, how two of them
// merge, and the statistics that all pairs yield. Merging is exact: it may happen in any order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/block.hpp"
#include "kernels/exact_sum.hpp"
#include "kernels/pair_block.hpp"

namespace fastdump::kernels {

// Of the elements of one tensor that are finite, as is the element beside them in the other.
struct SideStatistics {
  double mean = 0;
  double standard_deviation = 0;  // of the population
  double max = 0;
  double min = 0;
};

// What two tensors have to do with each other. Moments are over the finite pairs and mean nothing
// if there is none.
struct PairStatistics {
  std::uint64_t count = 0;
  std::uint64_t finite = 0;
  SideStatistics a;
  SideStatistics b;
  // 1 for a single pair and if both norms are next to 0, NaN if one is.
  double cosine_similarity = 0;
  double max_abs_error = 0;
  std::int64_t max_abs_error_index = -1;  // flat index of the first; -1: there is no error
  double mean_abs_error = 0;
  double rmse = 0;
  double relative_euclidean_distance = 0;
  double max_rel_error = 0;
  double mean_rel_error = 0;
  double accumulated_relative_error = 0;
  std::uint64_t mismatched = 0;      // pairs that are not close
  std::int64_t first_mismatch = -1;  // flat index; -1: none
  std::uint64_t only_a_bad = 0;      // NaN or Inf
  std::uint64_t only_b_bad = 0;
  std::uint64_t both_bad = 0;
  bool has_ulp_max = false;  // both are of one type, which is not complex
  std::uint64_t ulp_max = 0;
  bool bit_equal = true;  // both are of one type and all bits agree
};

class PairPartial {
 public:
  // Adds n pairs of packed elements. They are the tensors' elements from `first_index` on, which
  // must be a multiple of kPairBlockElements.
  void add(const Tier& tier, const Tolerance& tolerance, PairOperands operands, std::size_t n,
           std::uint64_t first_index);
  // `other` holds pairs of the same tensors, compared with the same tolerance.
  void add(const PairPartial& other);
  void clear();

  // Of elements of these types.
  PairStatistics finish(Element a, Element b) const;

 private:
  struct Side {
    ExactSum sum;
    ExactSum squares;
    double max = 0;
    double min = 0;

    void add(const PairSide& block, std::size_t n, bool first);
    void add(const Side& other, bool first);
    SideStatistics finish(double n) const;
    double centred_squares(double n, int exponent) const;
  };

  void add(const PairBlock& block, std::size_t n);
  void place(const Tier& tier, const Tolerance& tolerance, const PairOperands& operands,
             PairBlock block, std::size_t n, std::uint64_t first_index);

  Side a_;
  Side b_;
  ExactSum products_;
  ExactSum error_;
  ExactSum error_squares_;
  ExactSum relative_;
  PairStatistics totals_;  // its moments stay unset until finish()
  bool expect_bad_ = false;
};

}  // namespace fastdump::kernels
