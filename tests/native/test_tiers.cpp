// Every tier that this CPU can run gives the same bits for the same bytes, wherever they lie and
// however they are cut.
#include <cstdio>

#include "check.hpp"
#include "corpus.hpp"
#include "kernels/partial.hpp"
#include "kernels/tiers.hpp"

namespace {

using namespace fastdump::kernels;

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

bool same(const Statistics& a, const Statistics& b) {
  const bool same_extremes =  // as bits, whatever the kind
      a.finite == 0 || (a.max.u64 == b.max.u64 && a.min.u64 == b.min.u64);
  return a.count == b.count && a.finite == b.finite && same_extremes && same_bits(a.mean, b.mean) &&
         same_bits(a.l2norm, b.l2norm) && a.nan == b.nan && a.pos_inf == b.pos_inf &&
         a.neg_inf == b.neg_inf && a.zero == b.zero && a.subnormal == b.subnormal &&
         a.saturated == b.saturated && same_bits(a.min_abs, b.min_abs) &&
         a.first_bad == b.first_bad;
}

// Blocks cut from memory at an odd address, merged back to front.
Statistics reduce_cut(const Tier& tier, Element element, Level level, const std::byte* data,
                      std::size_t n) {
  const std::size_t whole = block_elements(element);
  const std::size_t block_bytes = whole / 8 * static_cast<std::size_t>(element_bits(element));
  std::vector<Partial> partials;
  for (std::size_t first = 0; first < n; first += whole) {
    const std::size_t count = n - first < whole ? n - first : whole;
    const std::byte* block = data + first / whole * block_bytes;
    const std::size_t nbytes = (count * static_cast<std::size_t>(element_bits(element)) + 7) / 8;
    // Exactly as long as the elements: a read past the end is the sanitizer's to find.
    std::vector<std::byte> odd(nbytes + 1);
    std::memcpy(odd.data() + 1, block, nbytes);
    partials.emplace_back();
    partials.back().add(tier, element, level, odd.data() + 1, count, first);
  }
  Partial total;
  for (std::size_t i = partials.size(); i-- > 0;) total.add(partials[i], element);
  return total.finish(level, element);
}

}  // namespace

int main() {
  const Tier& reference = *compiled_tiers().back().tier;
  CHECK(choose_tier("") != nullptr);
  CHECK(choose_tier(reference.name) == &reference);
  CHECK(choose_tier("no such tier") == nullptr);
  const auto corpus = fastdump::tests::make_corpus();
  for (int e = 1; e < kElementCount; ++e) {
    const auto element = static_cast<Element>(e);
    for (int l = 0; l < kLevelCount; ++l) {
      const auto level = static_cast<Level>(l);
      for (const auto& sample : corpus) {
        for (const std::size_t n : fastdump::tests::make_lengths(element)) {
          Partial whole;
          whole.add(reference, element, level, sample.bytes.data(), n, 0);
          const Statistics expected = whole.finish(level, element);
          for (const TierChoice& choice : compiled_tiers()) {
            if (!choice.usable) continue;
            const Statistics found =
                reduce_cut(*choice.tier, element, level, sample.bytes.data(), n);
            if (!same(expected, found)) {
              std::printf("tier %s element %d level %d %.*s %zu elements\n", choice.tier->name, e,
                          l, static_cast<int>(sample.name.size()), sample.name.data(), n);
            }
            CHECK(same(expected, found));
          }
        }
      }
    }
  }
  return fastdump::tests::exit_code();
}
