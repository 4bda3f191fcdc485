// Two tensors of any types and any bits, compared: every tier of this CPU gives the same bits, one
// thread and several do, and counts and extremes are what a slow loop gives.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "choices.hpp"
#include "core/arrays/compare_array.hpp"
#include "elements.hpp"
#include "kernels/pair_divergence.hpp"
#include "kernels/pair_partial.hpp"
#include "kernels/tiers.hpp"
#include "target.hpp"

namespace fastdump::fuzz {
namespace {

using namespace kernels;

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

bool same(const SideStatistics& a, const SideStatistics& b) {
  return same_bits(a.mean, b.mean) && same_bits(a.standard_deviation, b.standard_deviation) &&
         same_bits(a.max, b.max) && same_bits(a.min, b.min);
}

bool same(const PairStatistics& a, const PairStatistics& b) {
  return a.count == b.count && a.finite == b.finite && same(a.a, b.a) && same(a.b, b.b) &&
         same_bits(a.cosine_similarity, b.cosine_similarity) &&
         same_bits(a.max_abs_error, b.max_abs_error) &&
         a.max_abs_error_index == b.max_abs_error_index &&
         same_bits(a.mean_abs_error, b.mean_abs_error) && same_bits(a.rmse, b.rmse) &&
         same_bits(a.relative_euclidean_distance, b.relative_euclidean_distance) &&
         same_bits(a.max_rel_error, b.max_rel_error) &&
         same_bits(a.mean_rel_error, b.mean_rel_error) &&
         same_bits(a.accumulated_relative_error, b.accumulated_relative_error) &&
         a.mismatched == b.mismatched && a.first_mismatch == b.first_mismatch &&
         a.only_a_bad == b.only_a_bad && a.only_b_bad == b.only_b_bad && a.both_bad == b.both_bad &&
         a.has_ulp_max == b.has_ulp_max && a.ulp_max == b.ulp_max && a.bit_equal == b.bit_equal;
}

struct Compared {
  PairStatistics statistics;
  double divergence = 0;
};

Compared compare(const Tier& tier, const PairOperands& operands, std::size_t n,
                 const Tolerance& tolerance) {
  Compared compared;
  PairPartial partial;
  partial.add(tier, tolerance, operands, n, 0);
  compared.statistics = partial.finish(operands.a, operands.b);
  if (compared.statistics.finite == 0) return compared;
  PairDivergence divergence;
  divergence.add(tier, DivergenceRange(compared.statistics), operands, n);
  compared.divergence = divergence.finish(tier);
  return compared;
}

bool is_wide_integer(Element element) {
  return element == Element::int64 || element == Element::uint64;
}

// What needs no sums. |x - y| of doubles is rounded here as the kernels' is, but that of 64-bit
// integers, which is exact there.
void check_numbers(const PairStatistics& found, const PairOperands& operands,
                   std::span<const std::byte> a, std::span<const std::byte> b, std::size_t n) {
  std::uint64_t finite = 0;
  std::uint64_t only_a = 0;
  std::uint64_t only_b = 0;
  std::uint64_t both = 0;
  double max_error = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto x = element_at(operands.a, a, i);
    const auto y = element_at(operands.b, b, i);
    if (!x || !y) return;
    const bool x_is_bad = !std::isfinite(*x);
    const bool y_is_bad = !std::isfinite(*y);
    only_a += x_is_bad && !y_is_bad ? 1 : 0;
    only_b += !x_is_bad && y_is_bad ? 1 : 0;
    both += x_is_bad && y_is_bad ? 1 : 0;
    if (x_is_bad || y_is_bad) continue;
    ++finite;
    max_error = std::max(max_error, std::fabs(*x - *y));
  }
  CHECK_EQ(found.count, n);
  CHECK_EQ(found.finite, finite);
  CHECK_EQ(found.only_a_bad, only_a);
  CHECK_EQ(found.only_b_bad, only_b);
  CHECK_EQ(found.both_bad, both);
  if (finite == 0 || is_wide_integer(operands.a) || is_wide_integer(operands.b)) return;
  if (std::isfinite(max_error)) CHECK_EQ(found.max_abs_error, max_error);
}

}  // namespace

void run(std::span<const std::byte> input) {
  Choices choices(input);
  const auto element_a = static_cast<Element>(1 + choices.byte() % (kElementCount - 1));
  const std::uint8_t kind = choices.byte();  // mostly of one type
  const auto element_b =
      kind < 0x80 ? element_a : static_cast<Element>(1 + kind % (kElementCount - 1));
  Tolerance tolerance = {std::ldexp(1.0, -choices.byte() % 64), 0};
  if (choices.flag()) tolerance.absolute = std::ldexp(1.0, choices.byte() % 64 - 32);
  const auto rest = choices.rest();
  const auto half = rest.size() / 2;
  const std::size_t n = std::min(half * 8 / static_cast<std::size_t>(element_bits(element_a)),
                                 half * 8 / static_cast<std::size_t>(element_bits(element_b)));
  const Exact a(rest.first(packed_size(element_a, n)));
  const Exact b(rest.subspan(half, packed_size(element_b, n)));
  const PairOperands operands = {element_a, element_b, a.bytes().data(), b.bytes().data()};

  const Compared expected = compare(*compiled_tiers().back().tier, operands, n, tolerance);
  for (const TierChoice& choice : compiled_tiers()) {
    if (!choice.usable) continue;
    const Compared found = compare(*choice.tier, operands, n, tolerance);
    CHECK(same(found.statistics, expected.statistics));
    CHECK(same_bits(found.divergence, expected.divergence));
  }
  for (const int threads : {1, 2}) {
    const ArrayComparison array = compare_array(operands, n, tolerance, true, threads);
    CHECK(same(array.statistics, expected.statistics));
    CHECK_EQ(array.divergence.has_value(), expected.statistics.finite > 0);
    if (array.divergence) CHECK(same_bits(*array.divergence, expected.divergence));
  }
  check_numbers(expected.statistics, operands, a.bytes(), b.bytes(), n);
}

std::vector<std::string> seeds() {
  std::vector<std::string> inputs;
  for (char element = 0; element < kElementCount - 1; ++element) {
    std::string bytes;
    for (int i = 0; i < 128; ++i) bytes += static_cast<char>(i % 64 == 5 ? 0x7f : i % 64 * 5);
    inputs.push_back(bytes + std::string{'\0', '\1', '\x0a', '\0', element});
    inputs.push_back(bytes + std::string{'\0', '\1', '\x0a', '\x80', element});
  }
  return inputs;
}

}  // namespace fastdump::fuzz
