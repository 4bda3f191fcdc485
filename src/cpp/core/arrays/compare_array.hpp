// Two arrays in memory, compared.
#pragma once

#include <cstddef>
#include <optional>

#include "kernels/pair_partial.hpp"

namespace fastdump {

struct ArrayComparison {
  kernels::PairStatistics statistics;
  std::optional<double> divergence;  // in nats; empty: not asked for, or no pair is finite
};

// n pairs of packed elements, by up to `threads` threads.
ArrayComparison compare_array(const kernels::PairOperands& operands, std::size_t n,
                              const kernels::Tolerance& tolerance, bool with_divergence,
                              int threads);

}  // namespace fastdump
