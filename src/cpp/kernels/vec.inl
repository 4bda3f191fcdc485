// The vector vocabulary of one tier: GNU vector extensions, plus the few operations for which
// compilers do not find the instruction. Included inside the tier's anonymous namespace by
// tier.inl. kVectorBytes is the tier's register width.

template <class T>
using Vec __attribute__((vector_size(kVectorBytes))) = T;
// Half a register: what widens to a full one of elements twice as large.
template <class T>
using Half __attribute__((vector_size(kVectorBytes / 2))) = T;

template <class T>
inline constexpr std::size_t kWidth = kVectorBytes / sizeof(T);

// SAFETY: callers guarantee sizeof(V) readable bytes at p; memcpy needs no alignment.
template <class V>
inline V load(const void* p) {
  V v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

// p, of which the compiler does not know any more what is there.
inline const std::byte* unknown(const std::byte* p) {
  __asm__("" : "+r"(p));
  return p;
}

// p, from which it is to load again: clang would take parts of a register that it holds out of it,
// lane by lane, where a load costs nothing.
inline const std::byte* load_again(const std::byte* p) {
#if defined(__clang__)
  return unknown(p);
#else
  return p;
#endif
}

// Asks for nbytes at p, which loads will need later and which need not be there: no processor looks
// beyond a page by itself.
inline void prefetch(const std::byte* p, std::size_t nbytes) {
  for (std::size_t line = 0; line < nbytes; line += 64) __builtin_prefetch(p + line, 0, 2);
}

// Of what is read once, from one end to the other: as far ahead as memory takes to answer.
inline void prefetch_ahead(const std::byte* p, std::size_t nbytes) { prefetch(p + 8192, nbytes); }

template <class V>
inline void store(void* p, V v) {
  std::memcpy(p, &v, sizeof v);
}

template <class T>
inline Vec<T> broadcast(T value) {
  return value - Vec<T>{};
}

// Floats become doubles. GCC finds no vector instruction for this on aarch64, and with AVX it
// splits the register in two.
inline Vec<double> widen(Half<float> v) {
#if defined(__AVX512F__)
  return (Vec<double>)_mm512_cvtps_pd((__m256)v);
#elif defined(__AVX__)
  return (Vec<double>)_mm256_cvtps_pd((__m128)v);
#elif defined(__aarch64__)
  return (Vec<double>)vcvt_f64_f32((float32x2_t)v);
#else
  return __builtin_convertvector(v, Vec<double>);
#endif
}

inline Vec<double> widen(Half<std::int32_t> v) {
#if defined(__AVX512F__)
  return (Vec<double>)_mm512_cvtepi32_pd((__m256i)v);
#elif defined(__AVX__)
  return (Vec<double>)_mm256_cvtepi32_pd((__m128i)v);
#elif defined(__aarch64__)
  return (Vec<double>)vcvtq_f64_s64(vmovl_s32((int32x2_t)v));
#else
  return __builtin_convertvector(v, Vec<double>);
#endif
}

// 64-bit integers, which are signed or not, rounded to float64.
template <bool kSigned>
inline Vec<double> to_float64(Vec<std::uint64_t> x) {
#if defined(__AVX512DQ__)
  if constexpr (kSigned) return (Vec<double>)_mm512_cvtepi64_pd((__m512i)x);
  return (Vec<double>)_mm512_cvtepu64_pd((__m512i)x);
#else
  // Each half lies in the mantissa of a float64; their sum rounds once, to the nearest.
  constexpr std::uint64_t kOffset = kSigned ? std::uint64_t{1} << 63 : 0;
  constexpr double kMagic = kSigned ? 0x1p84 + 0x1p63 + 0x1p52 : 0x1p84 + 0x1p52;
  const auto offset = x ^ kOffset;
  const auto upper = (Vec<double>)((offset >> 32) | 0x4530000000000000) - kMagic;
  const auto lower = (Vec<double>)((offset & 0xffffffff) | 0x4330000000000000);
  return upper + lower;
#endif
}

// Bytes become 16-bit lanes. GCC takes them one by one on aarch64.
inline Vec<std::uint16_t> widen(Half<std::uint8_t> v) {
#if defined(__aarch64__)
  return (Vec<std::uint16_t>)vmovl_u8((uint8x8_t)v);
#else
  return __builtin_convertvector(v, Vec<std::uint16_t>);
#endif
}

inline Vec<std::int16_t> widen(Half<std::int8_t> v) {
#if defined(__aarch64__)
  return (Vec<std::int16_t>)vmovl_s8((int8x8_t)v);
#else
  return __builtin_convertvector(v, Vec<std::int16_t>);
#endif
}

// acc + x * y where x * y is exact in float64, so that contracting changes no bit.
inline Vec<double> add_exact_product(Vec<double> acc, Vec<double> x, Vec<double> y) {
#if defined(__AVX512F__)
  return (Vec<double>)_mm512_fmadd_pd((__m512d)x, (__m512d)y, (__m512d)acc);
#elif defined(__FMA__)
  return (Vec<double>)_mm256_fmadd_pd((__m256d)x, (__m256d)y, (__m256d)acc);
#elif defined(__aarch64__)
  return (Vec<double>)vfmaq_f64((float64x2_t)acc, (float64x2_t)x, (float64x2_t)y);
#else
  return acc + x * y;
#endif
}

// The larger of numbers that are not NaN; which of two zeros is the instruction set's affair.
// Compilers do not find one instruction for it in all tiers.
inline Vec<double> larger(Vec<double> a, Vec<double> b) {
#if defined(__AVX512F__)
  return (Vec<double>)_mm512_max_pd((__m512d)a, (__m512d)b);
#elif defined(__AVX__)
  return (Vec<double>)_mm256_max_pd((__m256d)a, (__m256d)b);
#elif defined(__SSE2__)
  return (Vec<double>)_mm_max_pd((__m128d)a, (__m128d)b);
#elif defined(__aarch64__)
  return (Vec<double>)vmaxq_f64((float64x2_t)a, (float64x2_t)b);
#endif
}

inline Vec<double> smaller(Vec<double> a, Vec<double> b) {
#if defined(__AVX512F__)
  return (Vec<double>)_mm512_min_pd((__m512d)a, (__m512d)b);
#elif defined(__AVX__)
  return (Vec<double>)_mm256_min_pd((__m256d)a, (__m256d)b);
#elif defined(__SSE2__)
  return (Vec<double>)_mm_min_pd((__m128d)a, (__m128d)b);
#elif defined(__aarch64__)
  return (Vec<double>)vminq_f64((float64x2_t)a, (float64x2_t)b);
#endif
}

// Correctly rounded.
inline Vec<double> square_root(Vec<double> x) {
#if defined(__AVX512F__)
  return (Vec<double>)_mm512_sqrt_pd((__m512d)x);
#elif defined(__AVX__)
  return (Vec<double>)_mm256_sqrt_pd((__m256d)x);
#elif defined(__SSE2__)
  return (Vec<double>)_mm_sqrt_pd((__m128d)x);
#elif defined(__aarch64__)
  return (Vec<double>)vsqrtq_f64((float64x2_t)x);
#endif
}

// Of the lanes of a and then those of b, every other one from the first on.
inline Vec<double> even_lanes(Vec<double> a, Vec<double> b) {
#if defined(__AVX512F__)
  const __m512i index = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
  return (Vec<double>)_mm512_permutex2var_pd((__m512d)a, index, (__m512d)b);
#elif defined(__AVX2__)
  return (Vec<double>)_mm256_permute4x64_pd(_mm256_unpacklo_pd((__m256d)a, (__m256d)b), 0xd8);
#elif defined(__SSE2__)
  return (Vec<double>)_mm_unpacklo_pd((__m128d)a, (__m128d)b);
#elif defined(__aarch64__)
  return (Vec<double>)vuzp1q_f64((float64x2_t)a, (float64x2_t)b);
#endif
}

// The others.
inline Vec<double> odd_lanes(Vec<double> a, Vec<double> b) {
#if defined(__AVX512F__)
  const __m512i index = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
  return (Vec<double>)_mm512_permutex2var_pd((__m512d)a, index, (__m512d)b);
#elif defined(__AVX2__)
  return (Vec<double>)_mm256_permute4x64_pd(_mm256_unpackhi_pd((__m256d)a, (__m256d)b), 0xd8);
#elif defined(__SSE2__)
  return (Vec<double>)_mm_unpackhi_pd((__m128d)a, (__m128d)b);
#elif defined(__aarch64__)
  return (Vec<double>)vuzp2q_f64((float64x2_t)a, (float64x2_t)b);
#endif
}

// counts + 1 in the lanes in which a > b.
inline Vec<std::int64_t> count_greater(Vec<std::int64_t> counts, Vec<double> a, Vec<double> b) {
#if defined(__AVX512F__)
  const __mmask8 greater = _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_GT_OQ);
  const __m512i one = _mm512_set1_epi64(1);
  return (Vec<std::int64_t>)_mm512_mask_add_epi64((__m512i)counts, greater, (__m512i)counts, one);
#else
  return counts - (a > b);
#endif
}

// counts + 1 in the lanes in which a > b. GCC makes vectors of AVX-512's masks before it adds them.
template <class T>
inline Vec<T> count_greater(Vec<T> counts, Vec<T> a, Vec<T> b) {
#if defined(__AVX512BW__)
  const auto c = (__m512i)counts, x = (__m512i)a, y = (__m512i)b, minus_one = _mm512_set1_epi32(-1);
  if constexpr (sizeof(T) == 2) {
    return (Vec<T>)_mm512_mask_sub_epi16(c, _mm512_cmpgt_epi16_mask(x, y), c, minus_one);
  } else if constexpr (sizeof(T) == 4) {
    return (Vec<T>)_mm512_mask_sub_epi32(c, _mm512_cmpgt_epi32_mask(x, y), c, minus_one);
  } else {
    return (Vec<T>)_mm512_mask_sub_epi64(c, _mm512_cmpgt_epi64_mask(x, y), c, minus_one);
  }
#else
  return counts - (a > b);
#endif
}

template <class T>
inline Vec<T> count_equal(Vec<T> counts, Vec<T> a, Vec<T> b) {
#if defined(__AVX512BW__)
  const auto c = (__m512i)counts, x = (__m512i)a, y = (__m512i)b, minus_one = _mm512_set1_epi32(-1);
  if constexpr (sizeof(T) == 2) {
    return (Vec<T>)_mm512_mask_sub_epi16(c, _mm512_cmpeq_epi16_mask(x, y), c, minus_one);
  } else if constexpr (sizeof(T) == 4) {
    return (Vec<T>)_mm512_mask_sub_epi32(c, _mm512_cmpeq_epi32_mask(x, y), c, minus_one);
  } else {
    return (Vec<T>)_mm512_mask_sub_epi64(c, _mm512_cmpeq_epi64_mask(x, y), c, minus_one);
  }
#else
  return counts - (a == b);
#endif
}

// kWidth<double> consecutive float16 at p as floats, exact for every code.
inline Half<float> load_float16(const std::byte* p) {
#if defined(__AVX512F__)
  return (Half<float>)_mm256_cvtph_ps(load<__m128i>(p));
#elif defined(__F16C__)
  return (Half<float>)_mm_cvtph_ps(_mm_set1_epi64x(load<std::int64_t>(p)));
#elif defined(__aarch64__)
  const auto raw = vreinterpret_f16_u32(vdup_n_u32(load<std::uint32_t>(p)));
  return (Half<float>)vget_low_f32(vcvt_f32_f16(raw));
#else
  static_assert(kVectorBytes == 16);
  // Exponent and mantissa land where float32 keeps them; the exponent is 112 short, that of Inf and
  // NaN twice as much. A subnormal is read as 2^-14 plus itself, for a product of subnormals is
  // slow.
  const auto pair = _mm_cvtsi32_si128(load<std::int32_t>(p));
  const auto raw = (Vec<std::int32_t>)_mm_unpacklo_epi16(pair, _mm_setzero_si128());
  constexpr std::int32_t kBias = 112 << 23;
  constexpr std::int32_t kOne = 1 << 23;
  const auto magnitude = raw & 0x7fff;
  const auto shifted = (magnitude << 13) + kBias;
  const auto normal = shifted + ((magnitude >= 0x7c00) & kBias);
  const auto subnormal = (Vec<std::int32_t>)((Vec<float>)(shifted + kOne) - 0x1p-14f);
  const auto below = magnitude < 0x0400;
  const auto bits = (below & subnormal) | (~below & normal) | (raw & 0x8000) << 16;
  const auto floats = (Vec<float>)bits;
  return load<Half<float>>(&floats);
#endif
}

// kWidth<double> consecutive bfloat16 at p as floats.
inline Half<float> load_bfloat16(const std::byte* p) {
#if defined(__AVX512F__)
  return (Half<float>)_mm256_slli_epi32(_mm256_cvtepu16_epi32(load<__m128i>(p)), 16);
#elif defined(__AVX2__)
  const auto codes = _mm_cvtepu16_epi32(_mm_set1_epi64x(load<std::int64_t>(p)));
  return (Half<float>)_mm_slli_epi32(codes, 16);
#elif defined(__aarch64__)
  const auto codes = vreinterpret_u16_u32(vdup_n_u32(load<std::uint32_t>(p)));
  return (Half<float>)vget_low_u32(vshll_n_u16(codes, 16));
#else
  static_assert(kVectorBytes == 16);
  const auto codes = _mm_cvtsi32_si128(load<std::int32_t>(p));
  const auto floats = (Vec<float>)_mm_unpacklo_epi16(_mm_setzero_si128(), codes);
  return load<Half<float>>(&floats);
#endif
}

// Products of 16-bit integers, added in pairs; which pairs is the instruction set's affair, the
// total over all lanes is not. A pair of two products of -32768 wraps to 2^31 as unsigned.
inline Vec<std::int32_t> multiply_add(Vec<std::int16_t> a, Vec<std::int16_t> b) {
#if defined(__AVX512BW__)
  return (Vec<std::int32_t>)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (Vec<std::int32_t>)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
  return (Vec<std::int32_t>)_mm_madd_epi16((__m128i)a, (__m128i)b);
#elif defined(__aarch64__)
  const auto low = vmull_s16(vget_low_s16((int16x8_t)a), vget_low_s16((int16x8_t)b));
  return (Vec<std::int32_t>)vmlal_high_s16(low, (int16x8_t)a, (int16x8_t)b);
#endif
}

#if defined(__AVX2__) || defined(__aarch64__)
#define FASTDUMP_LOOKS_UP_BYTES
// table[index] in each lane; an index is below 16.
inline Vec<std::uint8_t> look_up(const std::uint8_t* table, Vec<std::uint8_t> index) {
#if defined(__AVX512BW__)
  const __m512i all = _mm512_broadcast_i32x4(load<__m128i>(table));
  return (Vec<std::uint8_t>)_mm512_shuffle_epi8(all, (__m512i)index);
#elif defined(__AVX2__)
  const __m256i all = _mm256_broadcastsi128_si256(load<__m128i>(table));
  return (Vec<std::uint8_t>)_mm256_shuffle_epi8(all, (__m256i)index);
#else
  return (Vec<std::uint8_t>)vqtbl1q_u8(load<uint8x16_t>(table), (uint8x16_t)index);
#endif
}

// Adds the bytes to the lanes; which bytes to which lane is the instruction set's affair.
inline Vec<std::uint64_t> add_bytes(Vec<std::uint64_t> lanes, Vec<std::uint8_t> bytes) {
#if defined(__AVX512BW__)
  return lanes + (Vec<std::uint64_t>)_mm512_sad_epu8((__m512i)bytes, _mm512_setzero_si512());
#elif defined(__AVX2__)
  return lanes + (Vec<std::uint64_t>)_mm256_sad_epu8((__m256i)bytes, _mm256_setzero_si256());
#else
  const auto pairs = vpaddlq_u16(vpaddlq_u8((uint8x16_t)bytes));
  return (Vec<std::uint64_t>)vpadalq_u32((uint64x2_t)lanes, pairs);
#endif
}
#endif

// Whether any bit is set.
template <class V>
inline bool any_lane(V v) {
#if defined(__AVX512F__)
  return _mm512_test_epi64_mask((__m512i)v, (__m512i)v) != 0;
#elif defined(__AVX__)
  return _mm256_testz_si256((__m256i)v, (__m256i)v) == 0;
#elif defined(__SSE2__)
  return _mm_movemask_epi8(_mm_cmpeq_epi8((__m128i)v, _mm_setzero_si128())) != 0xffff;
#elif defined(__aarch64__)
  return vmaxvq_u32((uint32x4_t)v) != 0;
#endif
}

// Lanes are read from memory: indexing a vector variable would keep it there, also in the loops
// before.
template <class T>
struct LaneArray {
  T lanes[kWidth<T>];
  explicit LaneArray(Vec<T> v) { store(lanes, v); }
};

template <class T>
inline T max_lane(Vec<T> v) {
  const LaneArray<T> all(v);
  T best = all.lanes[0];
  for (const T lane : all.lanes) best = lane > best ? lane : best;
  return best;
}

template <class T>
inline T min_lane(Vec<T> v) {
  const LaneArray<T> all(v);
  T best = all.lanes[0];
  for (const T lane : all.lanes) best = lane < best ? lane : best;
  return best;
}

template <class T>
inline std::int64_t sum_lanes(Vec<T> v) {
  std::int64_t total = 0;
  for (const LaneArray<T> all(v); const T lane : all.lanes)
    total += static_cast<std::int64_t>(lane);
  return total;
}
