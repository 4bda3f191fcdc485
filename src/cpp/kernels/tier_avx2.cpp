#define FASTDUMP_NAME avx2
#define FASTDUMP_TIER tier_avx2
#define FASTDUMP_VECTOR_BYTES 32
#include "kernels/tier.inl"
