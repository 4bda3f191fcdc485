// Which instructions the x86-64 CPU that runs this has, and the system lets programs use.
//
// From CPUID and XGETBV: __builtin_cpu_supports() needs tables that a compiler's run-time library
// fills, and zig's leaves them empty; clang's does not know F16C.
#pragma once

namespace fastdump::kernels {

// AVX2, FMA, F16C, BMI, BMI2 and POPCNT.
bool cpu_has_avx2();

// AVX2 and its companions, and AVX-512 F, CD, BW, DQ, VL, VBMI and VNNI.
bool cpu_has_avx512();

}  // namespace fastdump::kernels
