// The kernels of one instruction-set tier. A tier's source file defines FASTDUMP_TIER and
// FASTDUMP_VECTOR_BYTES and includes this file; all that leaves it is one table. Everything else
// has internal linkage, so that no function compiled for a newer CPU can stand in for an older
// one's.

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "kernels/block.hpp"
#include "kernels/exact_sum.hpp"
#include "kernels/tiers.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace fastdump::kernels {
namespace {

inline constexpr std::size_t kVectorBytes = FASTDUMP_VECTOR_BYTES;

#include "kernels/vec.inl"
// After the vector vocabulary: each line needs those above it.
#include "kernels/contracts.inl"
#include "kernels/blocks.inl"
#include "kernels/float_formats.inl"
#include "kernels/float_pieces.inl"
#include "kernels/float_sums.inl"
#include "kernels/bad_floats.inl"
#include "kernels/floats.inl"
#include "kernels/integers.inl"
#include "kernels/decoders.inl"
#include "kernels/complexes.inl"

// Formats whose codes are read as float16 or bfloat16; the limits are codes after decoding.
using E5m2 = Float16As<Codes16{.min_normal = 0x0400, .max_finite = 0x7b00, .inf = 0x7c00}>;
// Not quite: its NaN comes next after its largest value, and there is no Inf. What stands for Inf
// is the code between the two that no element has.
using E4m3fn = Float16As<Codes16{.min_normal = 0x0400,
                                 .max_finite = 0x3f00,
                                 .inf = 0x3f7f,
                                 .exponent = E4m3fnToCodes::kExponent}>;
using Hifloat8 = Float16As<Codes16{.min_normal = 0x0200, .max_finite = 0x7800, .inf = 0x7c00}>;
using E2m1 = Float16As<Codes16{
    .min_normal = 0x0400, .max_finite = 0x0e00, .inf = 0x7c00, .exponent = kFloat4Exponent}>;
using E1m2 = Float16As<Codes16{
    .min_normal = 0x0400, .max_finite = 0x0700, .inf = 0x7c00, .exponent = kFloat4Exponent}>;
using E8m0 = Bfloat16As<Codes16{.min_normal = 0, .max_finite = 0x7f00, .inf = 0x7f80}>;

#if defined(FASTDUMP_LOOKS_UP_BYTES)
#include "kernels/nibbles.inl"
#endif
#if defined(__AVX512VNNI__)
#include "kernels/byte_floats.inl"
#include "kernels/e4m3fn.inl"
#include "kernels/e8m0fnu.inl"
#endif
#include "kernels/float64.inl"
#include "kernels/codes.inl"
#include "kernels/pair_pieces.inl"
#include "kernels/pair_sums.inl"
#include "kernels/bad_pairs.inl"
#include "kernels/pair_blocks.inl"
#include "kernels/pair_rescaling.inl"
#include "kernels/pairs.inl"
#include "kernels/pair_places.inl"
#include "kernels/divergence.inl"

template <FloatFormat F>
constexpr void set_floats(Tier& tier, Element element) {
  BlockFunction* levels = tier.reduce[static_cast<int>(element)];
  levels[0] = check_floats<F, Direct<F>>;
  levels[1] = reduce_floats<F, Direct<F>, Level::basic>;
  levels[2] = reduce_floats<F, Direct<F>, Level::full>;
}

template <FloatFormat F, Decoder D>
constexpr void set_decoded(Tier& tier, Element element) {
  BlockFunction* levels = tier.reduce[static_cast<int>(element)];
  levels[0] = check_floats<F, Decoded<F, D>>;
  levels[1] = reduce_floats<F, Decoded<F, D>, Level::basic>;
  levels[2] = reduce_floats<F, Decoded<F, D>, Level::full>;
}

#if defined(FASTDUMP_LOOKS_UP_BYTES)
template <NibbleFormat N>
constexpr void set_nibbles(Tier& tier, Element element) {
  BlockFunction* levels = tier.reduce[static_cast<int>(element)];
  levels[1] = reduce_nibbles<N, Level::basic>;
  levels[2] = reduce_nibbles<N, Level::full>;
}
#endif

#if defined(__AVX512VNNI__)
template <LookedUpFormat F>
constexpr void set_byte_floats(Tier& tier, Element element) {
  BlockFunction* levels = tier.reduce[static_cast<int>(element)];
  levels[0] = check_byte_floats<F>;
  levels[1] = reduce_byte_floats<F, Level::basic>;
  levels[2] = reduce_byte_floats<F, Level::full>;
}
#endif

template <FloatFormat Part>
constexpr void set_complexes(Tier& tier, Element element) {
  BlockFunction* levels = tier.reduce[static_cast<int>(element)];
  levels[0] = reduce_complexes<Part, Level::health>;
  levels[1] = reduce_complexes<Part, Level::basic>;
  levels[2] = reduce_complexes<Part, Level::full>;
}

template <std::integral T>
constexpr void set_integers(Tier& tier, Element element) {
  using Limits = std::numeric_limits<T>;
  constexpr IntegerRange<T> kAll = {.min = Limits::min(), .max = Limits::max()};
  BlockFunction* levels = tier.reduce[static_cast<int>(element)];
  levels[1] = reduce_integers<T, kAll, Level::basic>;
  levels[2] = reduce_integers<T, kAll, Level::full>;
}

template <std::integral T, Decoder D, T kMin, T kMax>
constexpr void set_packed_integers(Tier& tier, Element element) {
  constexpr IntegerRange<T> kRange = {.min = kMin, .max = kMax};
  BlockFunction* levels = tier.reduce[static_cast<int>(element)];
  levels[1] = reduce_packed_integers<T, D, kRange, Level::basic>;
  levels[2] = reduce_packed_integers<T, D, kRange, Level::full>;
}

constexpr Tier make_tier(const char* name) {
  Tier tier = {name, {}, {}, {compare_pairs, locate_pairs, diverge_pairs, logarithm}};
  set_floats<Float32>(tier, Element::float32);
  set_floats<Float16>(tier, Element::float16);
  set_floats<Bfloat16>(tier, Element::bfloat16);
  set_floats<Float64>(tier, Element::float64);
  set_integers<std::int8_t>(tier, Element::int8);
  set_integers<std::uint8_t>(tier, Element::uint8);
  set_integers<std::int16_t>(tier, Element::int16);
  set_integers<std::uint16_t>(tier, Element::uint16);
  set_integers<std::int32_t>(tier, Element::int32);
  set_integers<std::uint32_t>(tier, Element::uint32);
  set_integers<std::int64_t>(tier, Element::int64);
  set_integers<std::uint64_t>(tier, Element::uint64);
  BlockFunction* booleans = tier.reduce[static_cast<int>(Element::boolean)];
  booleans[1] = reduce_booleans<Level::basic>;
  booleans[2] = reduce_booleans<Level::full>;
  set_complexes<Float16>(tier, Element::complex32);
  set_complexes<Float32>(tier, Element::complex64);
  set_complexes<Float64>(tier, Element::complex128);
#if defined(__AVX512VNNI__)
  BlockFunction* e4m3fn = tier.reduce[static_cast<int>(Element::float8_e4m3fn)];
  e4m3fn[0] = check_byte_floats<E4m3fnBytes>;
  e4m3fn[1] = reduce_e4m3fn<Level::basic>;
  e4m3fn[2] = reduce_e4m3fn<Level::full>;
  BlockFunction* e8m0fnu = tier.reduce[static_cast<int>(Element::float8_e8m0fnu)];
  e8m0fnu[1] = reduce_e8m0fnu<Level::basic>;
  e8m0fnu[2] = reduce_e8m0fnu<Level::full>;
  set_byte_floats<E5m2Bytes>(tier, Element::float8_e5m2);
  set_byte_floats<Hifloat8Bytes>(tier, Element::hifloat8);
#else
  set_decoded<E4m3fn, E4m3fnToCodes>(tier, Element::float8_e4m3fn);
  set_decoded<E5m2, E5m2ToFloat16>(tier, Element::float8_e5m2);
  set_decoded<Hifloat8, Hifloat8ToFloat16>(tier, Element::hifloat8);
  set_decoded<E8m0, E8m0ToBfloat16>(tier, Element::float8_e8m0fnu);
#endif
  tier.reduce[static_cast<int>(Element::float8_e8m0fnu)][0] = check_exponents;
#if defined(FASTDUMP_LOOKS_UP_BYTES)
  set_nibbles<E2m1Nibbles>(tier, Element::float4_e2m1fn);
  set_nibbles<E1m2Nibbles>(tier, Element::float4_e1m2);
  set_nibbles<Int4Nibbles>(tier, Element::int4);
#else
  set_decoded<E2m1, E2m1ToFloat16>(tier, Element::float4_e2m1fn);
  set_decoded<E1m2, E1m2ToFloat16>(tier, Element::float4_e1m2);
  set_packed_integers<std::int8_t, Int4ToInt8, -8, 7>(tier, Element::int4);
#endif
  // They have no NaN and no Inf.
  for (const Element element : {Element::float4_e2m1fn, Element::float4_e1m2}) {
    tier.reduce[static_cast<int>(element)][static_cast<int>(Level::health)] = nullptr;
  }
  set_packed_integers<std::int8_t, Int2ToInt8, -2, 1>(tier, Element::int2);
  set_packed_integers<std::uint8_t, Uint2ToUint8, 0, 3>(tier, Element::uint2);
  set_packed_integers<std::uint8_t, Uint1ToUint8, 0, 1>(tier, Element::uint1);
  for (const Element element : {Element::float4_e2m1fn, Element::float4_e1m2, Element::int4}) {
    tier.unpack[static_cast<int>(element)] = Uint4ToUint8::decode;
  }
  for (const Element element : {Element::int2, Element::uint2}) {
    tier.unpack[static_cast<int>(element)] = Uint2ToUint8::decode;
  }
  tier.unpack[static_cast<int>(Element::uint1)] = Uint1ToUint8::decode;
  return tier;
}

}  // namespace

#define FASTDUMP_STRING_(x) #x
#define FASTDUMP_STRING(x) FASTDUMP_STRING_(x)
extern const Tier FASTDUMP_TIER;
constexpr Tier FASTDUMP_TIER = make_tier(FASTDUMP_STRING(FASTDUMP_NAME));

}  // namespace fastdump::kernels
