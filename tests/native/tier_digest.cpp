// Prints a line for each tier that this CPU can run, element type and level, and one for each two
// types of a comparison: a hash of every bit of the statistics of a fixed corpus. Two machines, or
// two tiers, agree if their lines do. The tier's name comes last, so that lines without it can be
// compared.
#include <cstdio>

#include "corpus.hpp"
#include "kernels/pair_divergence.hpp"
#include "kernels/pair_partial.hpp"
#include "kernels/partial.hpp"
#include "kernels/tiers.hpp"
#include "pair_corpus.hpp"

namespace {

using namespace fastdump::kernels;

class Hash {
 public:
  void add(std::uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8)
      state_ = (state_ ^ (value >> shift & 0xff)) * 0x100000001b3;
  }
  void add(double value) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, 8);
    add(bits);
  }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325;
};

void add(Hash& hash, const Statistics& statistics) {
  hash.add(statistics.count);
  hash.add(statistics.finite);
  if (statistics.finite != 0) {
    hash.add(statistics.max.u64);  // the bits, whatever the kind
    hash.add(statistics.min.u64);
  }
  hash.add(statistics.mean);
  hash.add(statistics.l2norm);
  for (const std::uint64_t count : {statistics.nan, statistics.pos_inf, statistics.neg_inf,
                                    statistics.zero, statistics.subnormal, statistics.saturated}) {
    hash.add(count);
  }
  hash.add(statistics.min_abs);
  hash.add(static_cast<std::uint64_t>(statistics.first_bad));
}

std::uint64_t digest(const Tier& tier, Element element, Level level) {
  Hash hash;
  for (const fastdump::tests::Sample& sample : fastdump::tests::make_corpus()) {
    for (const std::size_t n : fastdump::tests::make_lengths(element)) {
      Partial partial;
      partial.add(tier, element, level, sample.bytes.data(), n, 0);
      add(hash, partial.finish(level, element));
    }
  }
  return hash.value();
}

void add(Hash& hash, const SideStatistics& side) {
  for (const double value : {side.mean, side.standard_deviation, side.max, side.min}) {
    hash.add(value);
  }
}

void add(Hash& hash, const PairStatistics& statistics) {
  for (const std::uint64_t count :
       {statistics.count, statistics.finite, statistics.mismatched, statistics.only_a_bad,
        statistics.only_b_bad, statistics.both_bad, statistics.ulp_max}) {
    hash.add(count);
  }
  hash.add(static_cast<std::uint64_t>(statistics.max_abs_error_index));
  hash.add(static_cast<std::uint64_t>(statistics.first_mismatch));
  hash.add(std::uint64_t{statistics.bit_equal});
  add(hash, statistics.a);
  add(hash, statistics.b);
  // Which NaN stands for no cosine is nobody's business.
  const bool has_cosine = statistics.cosine_similarity == statistics.cosine_similarity;
  hash.add(has_cosine ? statistics.cosine_similarity : 2.0);
  for (const double value : {statistics.max_abs_error, statistics.mean_abs_error, statistics.rmse,
                             statistics.relative_euclidean_distance, statistics.max_rel_error,
                             statistics.mean_rel_error, statistics.accumulated_relative_error}) {
    hash.add(value);
  }
}

std::uint64_t digest(const Tier& tier, Element a, Element b) {
  Hash hash;
  for (const fastdump::tests::PairSample& sample : fastdump::tests::make_pair_corpus()) {
    for (const std::size_t n : fastdump::tests::make_pair_lengths(a, b)) {
      const PairOperands operands = {a, b, sample.a.data(), sample.b.data()};
      PairPartial partial;
      partial.add(tier, {1e-5, 1e-8}, operands, n, 0);
      const PairStatistics statistics = partial.finish(a, b);
      add(hash, statistics);
      if (statistics.finite == 0) continue;
      PairDivergence divergence;
      divergence.add(tier, DivergenceRange(statistics), operands, n);
      hash.add(divergence.finish(tier));
    }
  }
  return hash.value();
}

}  // namespace

int main() {
  for (const TierChoice& choice : compiled_tiers()) {
    if (!choice.usable) continue;
    for (int element = 1; element < kElementCount; ++element) {
      for (int level = 0; level < kLevelCount; ++level) {
        const std::uint64_t hash =
            digest(*choice.tier, static_cast<Element>(element), static_cast<Level>(level));
        std::printf("element %2d level %d %016llx %s\n", element, level,
                    static_cast<unsigned long long>(hash), choice.tier->name);
      }
    }
    for (const auto& [a, b] : fastdump::tests::make_element_pairs()) {
      std::printf("elements %2d and %2d %016llx %s\n", static_cast<int>(a), static_cast<int>(b),
                  static_cast<unsigned long long>(digest(*choice.tier, a, b)), choice.tier->name);
    }
  }
  return 0;
}
