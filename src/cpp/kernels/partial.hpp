// Partial results: what some blocks of a tensor reduce to, how two of them merge, and the
// statistics that a whole tensor's partial result yields. Merging is exact: it may happen in any
// order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/block.hpp"
#include "kernels/exact_sum.hpp"

namespace fastdump::kernels {

// The seven numbers of a tensor and what level full adds. Extremes, mean and norm mean nothing if
// no element is finite.
struct Statistics {
  std::uint64_t count = 0;
  std::uint64_t finite = 0;
  Number max = {};
  Number min = {};
  double mean = 0;
  double l2norm = 0;
  std::uint64_t nan = 0;
  std::uint64_t pos_inf = 0;
  std::uint64_t neg_inf = 0;
  std::uint64_t zero = 0;
  std::uint64_t subnormal = 0;
  std::uint64_t saturated = 0;
  double min_abs = 0;           // means nothing unless has_nonzero()
  std::int64_t first_bad = -1;  // flat index; -1: none

  // Of level full. True also in a thread that takes a subnormal min_abs for 0.
  bool has_nonzero() const { return finite != zero; }
};

class Partial {
 public:
  // Adds n packed elements at data. They are the tensor's elements from `first_index` on, which
  // must be a multiple of block_elements().
  void add(const Tier& tier, Element element, Level level, const std::byte* data, std::size_t n,
           std::uint64_t first_index);
  // `other` holds elements of the same tensor, reduced at the same level.
  void add(const Partial& other, Element element);
  void clear();

  // Extremes of a floating type that are zero are +0: which of two zeros is larger is anybody's
  // guess.
  Statistics finish(Level level, Element element) const;

 private:
  void add(Block& block, Level level, NumberKind kind, std::size_t n, std::uint64_t first_index);
  void add_extremes(Number max, Number min, NumberKind kind);
  void add_min_abs(double min_abs);

  Statistics counts_;  // its moments stay unset until finish()
  ExactSum sum_;
  ExactSum sum_squares_;
};

}  // namespace fastdump::kernels
