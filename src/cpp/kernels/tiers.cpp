#include "kernels/tiers.hpp"

#if defined(__x86_64__)
#include "kernels/x86_cpu.hpp"
#endif

namespace fastdump::kernels {

#if defined(__x86_64__)
extern const Tier tier_baseline;
#if defined(FASTDUMP_HAVE_AVX2)
extern const Tier tier_avx2;
#endif
#if defined(FASTDUMP_HAVE_AVX512)
extern const Tier tier_avx512;
#endif
#elif defined(__aarch64__)
extern const Tier tier_neon;
#endif

std::span<const TierChoice> compiled_tiers() {
  static const TierChoice kTiers[] = {
#if defined(__x86_64__)
#if defined(FASTDUMP_HAVE_AVX512)
      {&tier_avx512, cpu_has_avx512()},
#endif
#if defined(FASTDUMP_HAVE_AVX2)
      {&tier_avx2, cpu_has_avx2()},
#endif
      {&tier_baseline, true},
#elif defined(__aarch64__)
      {&tier_neon, true},  // part of every 64-bit ARM CPU
#endif
  };
  return kTiers;
}

const Tier* choose_tier(std::string_view forced) {
  for (const TierChoice& choice : compiled_tiers()) {
    if (choice.usable && (forced.empty() || forced == choice.tier->name)) return choice.tier;
  }
  return nullptr;
}

}  // namespace fastdump::kernels
