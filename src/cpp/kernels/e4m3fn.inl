// Blocks of float8_e4m3fn, where a register adds products of bytes (AVX-512 VNNI). Included inside
// the tier's anonymous namespace by tier.inl.
//
// Its finite values are whole numbers times 2^-9: a sign, seven bits and a power of 16, of which
// there are four. The seven bits times the sign, and times themselves, are what one instruction
// adds for 64 elements; each power of 16 has its sums. Nothing rounds, nor does it in the lanes of
// float_sums.inl, for a block of these values: all tiers have the same sums.

struct E4m3fnBytes {
  static constexpr std::int8_t kNan = 0x7f;
  static constexpr int kFirstNormal = 0x08;
  static constexpr int kMaxFinite = 0x7e;
  static __mmask64 finite(__m512i codes) {
    return _mm512_cmplt_epi8_mask(magnitudes_of(codes), _mm512_set1_epi8(kNan));
  }
  static __mmask64 infinite(__m512i) { return 0; }
};

inline constexpr int kE4m3fnExponent = -9;
inline constexpr int kE4m3fnGroups = 4;

struct SevenBits {
  int bits;
  int group;  // times 16^group
};

constexpr SevenBits e4m3fn_seven_bits(int magnitude) {
  const int exponent = magnitude >> 3;
  if (exponent == 0) return {magnitude, 0};
  return {((magnitude & 7) | 8) << ((exponent - 1) % 4), (exponent - 1) / 4};
}

constexpr double e4m3fn_value(int magnitude) {
  const SevenBits one = e4m3fn_seven_bits(magnitude);
  return one.bits * power_of_two(4 * one.group + kE4m3fnExponent);
}

struct E4m3fnTables {
  alignas(64) std::uint8_t seven_bits[128] = {};
  char first_of_group[kE4m3fnGroups] = {};
  // The last magnitude is NaN, which adds nothing.
  constexpr E4m3fnTables() {
    for (int m = 0x7e; m >= 0; --m) {
      const SevenBits one = e4m3fn_seven_bits(m);
      seven_bits[m] = static_cast<std::uint8_t>(one.bits);
      first_of_group[one.group] = static_cast<char>(m);
    }
  }
};

inline constexpr E4m3fnTables kE4m3fn;

// Of the elements of each group and of those above it, in lanes that hold what a block adds.
struct E4m3fnSums {
  static constexpr int kSignExponent = 6;

  __m512i sum[kE4m3fnGroups] = {};  // times 2^kSignExponent
  __m512i squares[kE4m3fnGroups] = {};

  // The largest total, of squares, has 52 bits.
  void store_in(Block& block) const {
    clear_moments(block);
    block.sum[0] = static_cast<double>(total(sum, 16));
    block.sum_squares[0] = static_cast<double>(total(squares, 256));
    block.sum_exponent = kE4m3fnExponent - kSignExponent;
    block.squares_exponent = 2 * kE4m3fnExponent;
  }

 private:
  static std::int64_t total(const __m512i (&groups)[kE4m3fnGroups], std::int64_t base) {
    std::int64_t added = sum_lanes<std::int32_t>((Vec<std::int32_t>)groups[0]);
    std::int64_t factor = base - 1;
    for (int g = 1; g < kE4m3fnGroups; ++g, factor *= base) {
      added += factor * sum_lanes<std::int32_t>((Vec<std::int32_t>)groups[g]);
    }
    return added;
  }
};

// Adds n elements, whole registers.
template <std::size_t... higher>
[[gnu::noinline]] void add_e4m3fn(const std::byte* p, std::size_t n, ByteCounts& counts,
                                  ByteExtremes& extremes, E4m3fnSums& sums,
                                  std::index_sequence<higher...>) {
  const Lookup seven_bits(kE4m3fn.seven_bits);
  __m512i sum_0 = sums.sum[0];
  __m512i squares_0 = sums.squares[0];
  __m512i sum[] = {sums.sum[1 + higher]...};
  __m512i squares[] = {sums.squares[1 + higher]...};
  ByteExtremes found = extremes;
  for (std::size_t i = 0; i < n; i += kVectorBytes) {
    prefetch_ahead(p + i, kVectorBytes);
    const auto codes = load<__m512i>(p + i);
    const __mmask64 finite = E4m3fnBytes::finite(codes);
    counts.finite += count_lanes(finite);
    found.add(codes, finite);
    const __m512i bits = seven_bits(codes);
    // The sign's bit alone is -128: with the next bit it is -64, without it 64.
    const __m512i signs = (codes & _mm512_set1_epi8(-0x80)) | _mm512_set1_epi8(0x40);
    sum_0 = _mm512_dpbusd_epi32(sum_0, bits, signs);
    squares_0 = _mm512_dpbusd_epi32(squares_0, bits, bits);
    const auto add = [&](char first, __m512i& to_sum, __m512i& to_squares) {
      const __mmask64 those = _mm512_cmpge_epi8_mask(magnitudes_of(codes), _mm512_set1_epi8(first));
      const __m512i kept = _mm512_maskz_mov_epi8(those, bits);
      to_sum = _mm512_dpbusd_epi32(to_sum, kept, signs);
      to_squares = _mm512_dpbusd_epi32(to_squares, kept, bits);
    };
    (add(kE4m3fn.first_of_group[1 + higher], sum[higher], squares[higher]), ...);
  }
  extremes = found;
  sums = {{sum_0, sum[higher]...}, {squares_0, squares[higher]...}};
}

template <Level kLevel>
void reduce_e4m3fn(const std::byte* data, std::size_t n, Block& block) {
  clear_counts(block);
  ByteCounts counts;
  ByteExtremes extremes;
  E4m3fnSums sums;
  for_whole_registers(data, n, E4m3fnBytes::kNan, [&](const std::byte* p, std::size_t count) {
    add_e4m3fn(p, count, counts, extremes, sums, std::make_index_sequence<kE4m3fnGroups - 1>());
  });
  counts.store_in(block, n);
  sums.store_in(block);
  extremes.store_in(block, e4m3fn_value);
  if constexpr (kLevel == Level::full) {
    find_special_bytes<E4m3fnBytes>(data, n, block, e4m3fn_value);
    if (counts.finite != n) block.first_bad = find_bad_byte<E4m3fnBytes>(data, n);
  }
}
