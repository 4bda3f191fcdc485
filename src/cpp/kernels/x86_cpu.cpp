#include "kernels/x86_cpu.hpp"

#if defined(__x86_64__)
#include <cpuid.h>

#include <cstdint>

namespace fastdump::kernels {
namespace {

constexpr std::uint32_t bits(auto... positions) { return ((std::uint32_t{1} << positions) | ...); }

constexpr bool has_all(std::uint32_t word, std::uint32_t wanted) {
  return (word & wanted) == wanted;
}

// Names and positions are those of the manual: CPUID leaf 1 and leaf 7, subleaf 0.
constexpr std::uint32_t kFma = 12, kPopcnt = 23, kOsxsave = 27, kAvx = 28, kF16c = 29;  // 1, ECX
constexpr std::uint32_t kBmi1 = 3, kAvx2 = 5, kBmi2 = 8;                                // 7, EBX
constexpr std::uint32_t kAvx512f = 16, kAvx512dq = 17, kAvx512cd = 28, kAvx512bw = 30;  // 7, EBX
constexpr std::uint32_t kAvx512vl = 31;                                                 // 7, EBX
constexpr std::uint32_t kAvx512vbmi = 1, kAvx512vnni = 11;                              // 7, ECX
// XCR0: the registers that the system saves when it changes threads.
constexpr std::uint32_t kXmm = 1, kYmm = 2, kMasks = 5, kZmmUpper = 6, kZmm16To31 = 7;

struct Features {
  std::uint32_t leaf_1_ecx = 0;
  std::uint32_t leaf_7_ebx = 0;
  std::uint32_t leaf_7_ecx = 0;
  std::uint32_t saved = 0;
};

// The intrinsic would take a flag that this file is not compiled with.
std::uint32_t xcr0() {
  std::uint32_t low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

Features read_features() {
  Features features;
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0) return features;
  features.leaf_1_ecx = ecx;
  if (has_all(ecx, bits(kOsxsave))) features.saved = xcr0();
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return features;
  features.leaf_7_ebx = ebx;
  features.leaf_7_ecx = ecx;
  return features;
}

const Features& features() {
  static const Features kFeatures = read_features();
  return kFeatures;
}

}  // namespace

bool cpu_has_avx2() {
  return has_all(features().saved, bits(kXmm, kYmm)) &&
         has_all(features().leaf_1_ecx, bits(kFma, kPopcnt, kAvx, kF16c)) &&
         has_all(features().leaf_7_ebx, bits(kBmi1, kAvx2, kBmi2));
}

bool cpu_has_avx512() {
  return cpu_has_avx2() && has_all(features().saved, bits(kMasks, kZmmUpper, kZmm16To31)) &&
         has_all(features().leaf_7_ebx,
                 bits(kAvx512f, kAvx512dq, kAvx512cd, kAvx512bw, kAvx512vl)) &&
         has_all(features().leaf_7_ecx, bits(kAvx512vbmi, kAvx512vnni));
}

}  // namespace fastdump::kernels
#endif
