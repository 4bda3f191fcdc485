#define FASTDUMP_NAME baseline
#define FASTDUMP_TIER tier_baseline
#define FASTDUMP_VECTOR_BYTES 16
#include "kernels/tier.inl"
