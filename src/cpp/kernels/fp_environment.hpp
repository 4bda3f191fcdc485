// Floating-point control of the calling thread. A host process may flush subnormals to zero or
// round differently; the same bytes must still give the same bits.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace fastdump::kernels {

// IEEE 754 defaults while it lives: round to nearest, keep subnormals, trap nothing.
class DefaultFpEnvironment {
 public:
#if defined(__x86_64__)
  DefaultFpEnvironment() : saved_(_mm_getcsr()) { _mm_setcsr(kDefault); }
  ~DefaultFpEnvironment() { _mm_setcsr(static_cast<unsigned>(saved_)); }
#elif defined(__aarch64__)
  DefaultFpEnvironment() {
    asm volatile("mrs %0, fpcr" : "=r"(saved_));
    asm volatile("msr fpcr, %0" : : "r"(std::uint64_t{0}));
  }
  ~DefaultFpEnvironment() { asm volatile("msr fpcr, %0" : : "r"(saved_)); }
#endif
  DefaultFpEnvironment(const DefaultFpEnvironment&) = delete;
  DefaultFpEnvironment& operator=(const DefaultFpEnvironment&) = delete;

 private:
  static constexpr unsigned kDefault = 0x1f80;  // MXCSR after reset
  std::uint64_t saved_ = 0;
};

}  // namespace fastdump::kernels
