#include "kernels/tiers.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
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

#if defined(FASTDUMP_HAVE_AVX2)
namespace {

// clang's __builtin_cpu_supports() does not know it.
bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

}  // namespace
#endif

std::span<const TierChoice> compiled_tiers() {
  static const TierChoice kTiers[] = {
#if defined(__x86_64__)
#if defined(FASTDUMP_HAVE_AVX512)
      {&tier_avx512, __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                         __builtin_cpu_supports("avx512cd") &&
                         __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("fma") &&
                         __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")},
#endif
#if defined(FASTDUMP_HAVE_AVX2)
      {&tier_avx2, __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c() &&
                       __builtin_cpu_supports("bmi2")},
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
