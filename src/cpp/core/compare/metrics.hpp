// The numbers that a comparison yields, by name and in the order of its table.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include "kernels/pair_partial.hpp"

namespace fastdump {

// Calls visit(name, value) for each; a value is an optional double, std::int64_t (counts and flat
// indices), std::uint64_t or bool, empty where it means nothing.
template <class Visit>
void for_each_metric(const std::optional<kernels::PairStatistics>& statistics,
                     std::optional<double> divergence, Visit visit) {
  const kernels::PairStatistics s = statistics.value_or(kernels::PairStatistics{});
  const auto count = [&](std::uint64_t n) {
    return statistics ? std::optional(static_cast<std::int64_t>(n)) : std::nullopt;
  };
  const auto index = [](std::int64_t i) { return i < 0 ? std::nullopt : std::optional(i); };
  const auto moment = [&](double value) {
    return s.finite == 0 || std::isnan(value) ? std::nullopt : std::optional(value);
  };
  visit("count", count(s.count));
  visit("cosine_similarity", moment(s.cosine_similarity));
  visit("max_abs_error", moment(s.max_abs_error));
  visit("max_abs_error_index", index(s.max_abs_error_index));
  visit("mean_abs_error", moment(s.mean_abs_error));
  visit("rmse", moment(s.rmse));
  visit("relative_euclidean_distance", moment(s.relative_euclidean_distance));
  visit("max_rel_error", moment(s.max_rel_error));
  visit("mean_rel_error", moment(s.mean_rel_error));
  visit("accumulated_relative_error", moment(s.accumulated_relative_error));
  visit("kl_divergence", divergence);
  visit("mismatched", count(s.mismatched));
  visit("first_mismatch", index(s.first_mismatch));
  visit("ulp_max", s.has_ulp_max && s.finite != 0 ? std::optional(s.ulp_max) : std::nullopt);
  visit("only_a_bad", count(s.only_a_bad));
  visit("only_b_bad", count(s.only_b_bad));
  visit("both_bad", count(s.both_bad));
  visit("bit_equal", statistics ? std::optional(s.bit_equal) : std::nullopt);
  visit("mean_a", moment(s.a.mean));
  visit("standard_deviation_a", moment(s.a.standard_deviation));
  visit("max_a", moment(s.a.max));
  visit("min_a", moment(s.a.min));
  visit("mean_b", moment(s.b.mean));
  visit("standard_deviation_b", moment(s.b.standard_deviation));
  visit("max_b", moment(s.b.max));
  visit("min_b", moment(s.b.min));
}

}  // namespace fastdump
