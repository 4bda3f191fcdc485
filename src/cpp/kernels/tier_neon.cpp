#define FASTDUMP_NAME neon
#define FASTDUMP_TIER tier_neon
#define FASTDUMP_VECTOR_BYTES 16
#include "kernels/tier.inl"
