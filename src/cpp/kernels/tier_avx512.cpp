#define FASTDUMP_NAME avx512
#define FASTDUMP_TIER tier_avx512
#define FASTDUMP_VECTOR_BYTES 64
#include "kernels/tier.inl"
