// Decoders of elements of eight bits and fewer: packed codes in, codes of a wider type out.
// Included inside the tier's anonymous namespace by tier.inl.

// Applies `wide` to register after register of n bytes, each byte widened to a lane of 16 bits.
template <class Wide>
inline void decode_bytes(const std::byte* data, std::size_t n_bytes, std::byte* out, Wide wide) {
  using T = std::uint16_t;
  const auto convert = [&](const std::byte* from, std::byte* to) {
    store(to, wide(widen(load<Half<std::uint8_t>>(from))));
  };
  std::size_t i = 0;
  for (; i + kWidth<T> <= n_bytes; i += kWidth<T>) {
    prefetch_ahead(data + i, kWidth<T>);
    convert(data + i, out + i * sizeof(T));
  }
  if (i == n_bytes) return;
  std::byte from[kWidth<T>] = {};
  std::byte to[kVectorBytes];
  std::memcpy(from, data + i, n_bytes - i);
  convert(from, to);
  std::memcpy(out + i * sizeof(T), to, (n_bytes - i) * sizeof(T));
}

struct E5m2ToFloat16 {
  static constexpr int kBits = 8;
  static void decode(const std::byte* data, std::size_t n, std::byte* out) {
    decode_bytes(data, n, out, [](auto code) { return code << 8; });
  }
};

// The code's fields land in float16 fields, whose exponent bias is 8 more: read as float16 the
// value is 2^8 too small, subnormals included. NaN comes next after the largest value, as in the
// code: float16 would take it for a number.
struct E4m3fnToCodes {
  static constexpr int kBits = 8;
  static constexpr int kExponent = 8;
  static void decode(const std::byte* data, std::size_t n, std::byte* out) {
    decode_bytes(data, n, out, [](auto code) {
      const auto shifted = (Vec<std::int16_t>)(code << 8) >> 1;  // the sign fills two bits
      return (decltype(code))shifted & 0xbf80;
    });
  }
};

// The same with float16's NaN.
struct E4m3fnToFloat16 {
  static constexpr int kBits = 8;
  static void decode(const std::byte* data, std::size_t n, std::byte* out) {
    decode_bytes(data, n, out, [](auto code) {
      const auto magnitude = code & 0x7f;
      const auto nan = (decltype(code))(magnitude == 0x7f) & 0x7e00;
      return (code & 0x80) << 8 | magnitude << 7 | nan;
    });
  }
};

// 2^(code - 127) has bfloat16's exponent in all codes but two: 0 is below its normals, 255 is NaN.
struct E8m0ToBfloat16 {
  static constexpr int kBits = 8;
  static void decode(const std::byte* data, std::size_t n, std::byte* out) {
    decode_bytes(data, n, out, [](auto code) {
      const auto smallest = (decltype(code))(code == 0) & 0x0040;
      const auto nan = (decltype(code))(code == 0xff) & 0x0040;
      return code << 7 | smallest | nan;
    });
  }
};

// HiFloat8 as float16, which has all its values. The leading bits of the magnitude t (the dot) say
// how many exponent bits follow; the exponent's top bit is its sign, with an implicit one below it.
constexpr std::uint16_t hifloat8_to_float16(int code) {
  const int sign = (code & 0x80) << 8;
  const int t = code & 0x7f;
  if (code == 0x80) return 0x7e00;
  if (t == 0) return 0;
  if (t == 0x6f) return static_cast<std::uint16_t>(sign | 0x7c00);
  int exponent = t - 23;  // below 8: 2^(t - 23), no mantissa
  int mantissa = 0;       // in tenths of two, as float16 has it
  if (t >= 8) {
    const int exponent_bits = t >= 0x60 ? 4 : t >= 0x40 ? 3 : t >= 0x20 ? 2 : t >= 0x10 ? 1 : 0;
    const int mantissa_bits = exponent_bits == 4 ? 1 : exponent_bits == 3 ? 2 : 3;
    mantissa = (t & ((1 << mantissa_bits) - 1)) << (10 - mantissa_bits);
    exponent = 0;
    if (exponent_bits > 0) {
      const int sign_bit = 1 << (exponent_bits - 1);
      const int field = t >> mantissa_bits & (2 * sign_bit - 1);
      const int absolute = sign_bit | (field & (sign_bit - 1));
      exponent = (field & sign_bit) != 0 ? -absolute : absolute;
    }
  }
  const int bits =
      exponent >= -14 ? (exponent + 15) << 10 | mantissa : (0x400 | mantissa) >> (-14 - exponent);
  return static_cast<std::uint16_t>(sign | bits);
}

// For each byte the elements that it holds, packed in an Entry, the first in its lowest bits.
template <class Entry, class ByteToEntry>
struct ByteTable {
  Entry entries[256] = {};
  constexpr explicit ByteTable(ByteToEntry entry) {
    for (int byte = 0; byte < 256; ++byte) entries[byte] = static_cast<Entry>(entry(byte));
  }
};

template <class Entry, const auto& kTable>
inline void decode_by_table(const std::byte* data, std::size_t n_bytes, std::byte* out) {
  for (std::size_t i = 0; i < n_bytes; ++i) {
    store(out + i * sizeof(Entry), kTable.entries[static_cast<std::uint8_t>(data[i])]);
  }
}

struct Hifloat8ToFloat16 {
  static constexpr int kBits = 8;
  static constexpr ByteTable<std::uint16_t, decltype(&hifloat8_to_float16)> kTable{
      hifloat8_to_float16};

  static void decode(const std::byte* data, std::size_t n, std::byte* out) {
#if defined(__AVX512BW__)
    // A lookup of 32 codes in 128 entries: two permutations of two registers each.
    const auto quarter = [](int k) { return load<__m512i>(kTable.entries + 32 * k); };
    const __m512i low_0 = quarter(0), low_1 = quarter(1), high_0 = quarter(2), high_1 = quarter(3);
    decode_bytes(data, n, out, [&](auto code) {
      const auto index = (__m512i)code;
      const __m512i low = _mm512_permutex2var_epi16(low_0, index, low_1);
      const __m512i high = _mm512_permutex2var_epi16(high_0, index, high_1);
      const __mmask32 upper = _mm512_test_epi16_mask(index, _mm512_set1_epi16(0x40));
      const auto bits = (decltype(code))_mm512_mask_mov_epi16(low, upper, high);
      const auto nan = (decltype(code))(code == 0x80) & 0x7e00;
      return bits | (code & 0x80) << 8 | nan;
    });
#else
    decode_by_table<std::uint16_t, kTable>(data, n, out);
#endif
  }
};

// How elements lie in a byte.
struct Packing {
  int bits;  // of an element
  bool high_first = false;
};

// Packed elements of which `kOne` makes an `Out` each.
template <Packing kPacking, class Out, auto kOne>
struct PackedByTable {
  static constexpr int kBits = kPacking.bits;
  static constexpr int kPerByte = 8 / kBits;
  // Of all elements in a byte.
  using Entry = std::conditional_t<kPerByte * sizeof(Out) == 8, std::uint64_t, std::uint32_t>;
  static_assert(sizeof(Entry) == kPerByte * sizeof(Out));

  static constexpr Entry entry(int byte) {
    Entry packed = 0;
    for (int slot = 0; slot < kPerByte; ++slot) {
      const int shift = kBits * (kPacking.high_first ? kPerByte - 1 - slot : slot);
      const auto one = static_cast<Out>(kOne(byte >> shift & ((1 << kBits) - 1)));
      packed |= static_cast<Entry>(one) << (8 * sizeof(Out) * static_cast<unsigned>(slot));
    }
    return packed;
  }
  static constexpr ByteTable<Entry, decltype(&entry)> kTable{&entry};

  static void decode(const std::byte* data, std::size_t n, std::byte* out) {
    const std::size_t whole = n / kPerByte;
    decode_by_table<Entry, kTable>(data, whole, out);
    if (n % kPerByte == 0) return;
    std::byte last[sizeof(Entry)];
    decode_by_table<Entry, kTable>(data + whole, 1, last);
    std::memcpy(out + whole * sizeof(Entry), last, n % kPerByte * sizeof(Out));
  }
};

// A float4's sign and three magnitude bits, these moved to where float16 has exponent and mantissa.
// Both encodings have exponent bias 1, float16 has 15: the value is 2^14 too small.
inline constexpr int kFloat4Exponent = 14;
constexpr int e2m1_to_float16(int code) { return (code & 8) << 12 | (code & 7) << 9; }
constexpr int e1m2_to_float16(int code) { return (code & 8) << 12 | (code & 7) << 8; }
constexpr int identity(int code) { return code; }
constexpr int sign_extend_2(int code) { return (code ^ 2) - 2; }

using E2m1ToFloat16 = PackedByTable<Packing{.bits = 4}, std::uint16_t, e2m1_to_float16>;
using E1m2ToFloat16 = PackedByTable<Packing{.bits = 4}, std::uint16_t, e1m2_to_float16>;
using Int2ToInt8 = PackedByTable<Packing{.bits = 2}, std::uint8_t, sign_extend_2>;
using Uint2ToUint8 = PackedByTable<Packing{.bits = 2}, std::uint8_t, identity>;
using Uint1ToUint8 = PackedByTable<Packing{.bits = 1, .high_first = true}, std::uint8_t, identity>;

// The nibbles of each byte, widened to 16 bits, in a byte each.
constexpr auto split_nibbles = [](auto byte) { return (byte & 0x0f) | (byte & 0xf0) << 4; };

struct Uint4ToUint8 {
  static constexpr int kBits = 4;
  static void decode(const std::byte* data, std::size_t n, std::byte* out) {
    decode_bytes(data, n / 2, out, split_nibbles);
    if (n % 2 != 0) out[n - 1] = data[n / 2] & std::byte{0x0f};
  }
};

struct Int4ToInt8 {
  static constexpr int kBits = 4;
  static void decode(const std::byte* data, std::size_t n, std::byte* out) {
    const auto pairs = [](auto byte) {
      // Sign extension of a nibble in each byte: flip its sign bit, subtract its weight.
      const auto flipped = (Vec<std::int8_t>)split_nibbles(byte) ^ 8;
      return (decltype(byte))(flipped - 8);
    };
    decode_bytes(data, n / 2, out, pairs);
    if (n % 2 == 0) return;
    const int code = static_cast<int>(data[n / 2]) & 0x0f;
    out[n - 1] = static_cast<std::byte>((code ^ 8) - 8);
  }
};
