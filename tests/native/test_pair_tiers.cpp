// Every tier that this CPU can run compares the same bytes to the same bits, wherever they lie and
// however they are cut.
#include <cstdio>
#include <cstring>

#include "check.hpp"
#include "kernels/pair_divergence.hpp"
#include "kernels/pair_partial.hpp"
#include "kernels/tiers.hpp"
#include "pair_corpus.hpp"

namespace {

using namespace fastdump::kernels;

constexpr Tolerance kTolerance = {1e-5, 1e-8};

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

struct Result {
  PairStatistics statistics;
  double divergence = 0;
};

Result compare_whole(const Tier& tier, const PairOperands& operands, std::size_t n) {
  Result result;
  PairPartial partial;
  partial.add(tier, kTolerance, operands, n, 0);
  result.statistics = partial.finish(operands.a, operands.b);
  if (result.statistics.finite == 0) return result;
  PairDivergence divergence;
  divergence.add(tier, DivergenceRange(result.statistics), operands, n);
  result.divergence = divergence.finish(tier);
  return result;
}

// n elements from `first` on, at an odd address and no longer than they are: a read past the end is
// the sanitizer's to find.
std::vector<std::byte> odd_copy(Element element, const std::byte* data, std::size_t first,
                                std::size_t n) {
  const auto bits = static_cast<std::size_t>(element_bits(element));
  std::vector<std::byte> odd((n * bits + 7) / 8 + 1);
  std::memcpy(odd.data() + 1, data + first / 8 * bits, odd.size() - 1);
  return odd;
}

// Blocks that are merged back to front.
Result compare_cut(const Tier& tier, const PairOperands& operands, std::size_t n) {
  PairPartial total;
  PairDivergence total_divergence;
  const auto for_each_block = [&](auto visit) {
    for (std::size_t first = n; first > 0;) {
      first = (first - 1) / kPairBlockElements * kPairBlockElements;
      const std::size_t count = n - first < kPairBlockElements ? n - first : kPairBlockElements;
      const auto a = odd_copy(operands.a, operands.data_a, first, count);
      const auto b = odd_copy(operands.b, operands.data_b, first, count);
      visit(PairOperands{operands.a, operands.b, a.data() + 1, b.data() + 1}, count, first);
    }
  };
  for_each_block([&](const PairOperands& block, std::size_t count, std::size_t first) {
    PairPartial partial;
    partial.add(tier, kTolerance, block, count, first);
    total.add(partial);
  });
  Result result;
  result.statistics = total.finish(operands.a, operands.b);
  if (result.statistics.finite == 0) return result;
  const DivergenceRange range(result.statistics);
  for_each_block([&](const PairOperands& block, std::size_t count, std::size_t) {
    PairDivergence partial;
    partial.add(tier, range, block, count);
    total_divergence.add(partial);
  });
  result.divergence = total_divergence.finish(tier);
  return result;
}

}  // namespace

int main() {
  const Tier& reference = *compiled_tiers().back().tier;
  const auto corpus = fastdump::tests::make_pair_corpus();
  for (const auto& [a, b] : fastdump::tests::make_element_pairs()) {
    for (const auto& sample : corpus) {
      for (const std::size_t n : fastdump::tests::make_pair_lengths(a, b)) {
        const PairOperands operands = {a, b, sample.a.data(), sample.b.data()};
        const Result expected = compare_whole(reference, operands, n);
        for (const TierChoice& choice : compiled_tiers()) {
          if (!choice.usable) continue;
          const Result found = compare_cut(*choice.tier, operands, n);
          const bool agrees = same(expected.statistics, found.statistics) &&
                              same_bits(expected.divergence, found.divergence);
          if (!agrees) {
            std::printf("tier %s elements %d and %d %.*s %zu pairs\n", choice.tier->name,
                        static_cast<int>(a), static_cast<int>(b),
                        static_cast<int>(sample.name.size()), sample.name.data(), n);
          }
          CHECK(agrees);
        }
      }
    }
  }
  return fastdump::tests::exit_code();
}
