// Blocks of 8-bit floats with a sign, where a register looks up 128 bytes at once (AVX-512 VBMI).
// Included inside the tier's anonymous namespace by tier.inl.
//
// The upper 16 bits of a float64 hold every value of these formats: a table of them for the seven
// bits of magnitude, one permutation that spreads them, and nothing has to be converted. In the
// table NaN and Inf are zero, which changes no sum. The sums are those of float_sums.inl, lane by
// lane.

// The upper 16 bits of the float64 that a positive, finite float16 with four bits of mantissa is.
constexpr std::uint16_t float64_top(int float16) {
  if (float16 == 0) return 0;
  int biased = float16 >> 10;
  int mantissa = float16 & 0x3ff;
  if (biased == 0) {
    for (biased = 1; mantissa < 0x400; --biased) mantissa <<= 1;
  }
  return static_cast<std::uint16_t>((biased - 15 + 1023) << 4 | (mantissa & 0x3ff) >> 6);
}

inline __m512i magnitudes_of(__m512i codes) {
  return _mm512_and_si512(codes, _mm512_set1_epi8(0x7f));
}

// 128 bytes in two registers; the sign of a code is no part of its index.
struct Lookup {
  __m512i first;
  __m512i second;
  explicit Lookup(const std::uint8_t* entries)
      : first(load<__m512i>(entries)), second(load<__m512i>(entries + 64)) {}
  __m512i operator()(__m512i codes) const { return _mm512_permutex2var_epi8(first, codes, second); }
};

struct E5m2Bytes {
  static constexpr std::int8_t kNan = 0x7f;
  static constexpr int kFirstNormal = 0x04;
  static constexpr int kMaxFinite = 0x7b;
  static constexpr bool kRanked = false;
  static constexpr bool kHidesNan = false;
  static constexpr std::int8_t kFirstBad = 0x7c;
  static constexpr int rank(int magnitude) { return magnitude; }
  static constexpr std::uint16_t top(int magnitude) {
    return magnitude >= 0x7c ? 0 : float64_top(magnitude << 8);
  }
  static __mmask64 finite(__m512i codes) {
    return _mm512_cmplt_epi8_mask(magnitudes_of(codes), _mm512_set1_epi8(0x7c));
  }
  static __mmask64 infinite(__m512i codes) {
    return _mm512_cmpeq_epi8_mask(magnitudes_of(codes), _mm512_set1_epi8(0x7c));
  }
};

struct Hifloat8Bytes {
  static constexpr std::int8_t kNan = -0x80;
  static constexpr int kInf = 0x6f;
  static constexpr int kFirstNormal = 0x08;
  static constexpr int kMaxFinite = 0x6e;
  static constexpr bool kRanked = true;
  static constexpr bool kHidesNan = true;
  static constexpr std::int8_t kFirstBad = 0x7f;
  static constexpr int rank(int magnitude) {
    int smaller = 0;
    for (int m = 0; m < 0x80; ++m) {
      smaller += hifloat8_to_float16(m) < hifloat8_to_float16(magnitude) ? 1 : 0;
    }
    return smaller;
  }
  static constexpr std::uint16_t top(int magnitude) {
    return magnitude == kInf ? 0 : float64_top(hifloat8_to_float16(magnitude));
  }
  static __mmask64 finite(__m512i codes) {
    return _mm512_mask_cmpneq_epi8_mask(_mm512_cmpneq_epi8_mask(codes, _mm512_set1_epi8(kNan)),
                                        magnitudes_of(codes), _mm512_set1_epi8(kInf));
  }
  static __mmask64 infinite(__m512i codes) {
    return _mm512_cmpeq_epi8_mask(magnitudes_of(codes), _mm512_set1_epi8(kInf));
  }
};

template <LookedUpFormat F>
struct MagnitudeTables {
  alignas(64) std::uint8_t low[128];
  alignas(64) std::uint8_t high[128];
  alignas(64) std::uint8_t rank[128];
  double of_rank[128];
  constexpr MagnitudeTables() : low(), high(), rank(), of_rank() {
    for (int m = 0; m < 128; ++m) {
      const std::uint64_t top = F::top(m);
      low[m] = static_cast<std::uint8_t>(top);
      high[m] = static_cast<std::uint8_t>(top >> 8);
      rank[m] = static_cast<std::uint8_t>(F::rank(m));
      of_rank[rank[m]] = std::bit_cast<double>(top << 48);
    }
  }
};

template <LookedUpFormat F>
inline constexpr MagnitudeTables<F> kMagnitudeTables;

// Extremes of codes whose magnitudes grow with the value. Read as bytes with a sign, positive ones
// order as their values do; read as bytes without one, negative ones come last, by their magnitude.
struct ByteExtremes {
  __m512i max_signed = _mm512_set1_epi8(INT8_MIN);
  __m512i max_unsigned = _mm512_setzero_si512();
  __m512i min_unsigned = _mm512_set1_epi8(-1);

  void add(__m512i codes) {
    max_signed = _mm512_max_epi8(max_signed, codes);
    max_unsigned = _mm512_max_epu8(max_unsigned, codes);
    min_unsigned = _mm512_min_epu8(min_unsigned, codes);
  }
  void add(const ByteExtremes& other) {
    max_signed = _mm512_max_epi8(max_signed, other.max_signed);
    max_unsigned = _mm512_max_epu8(max_unsigned, other.max_unsigned);
    min_unsigned = _mm512_min_epu8(min_unsigned, other.min_unsigned);
  }
  void add(__m512i codes, __mmask64 those) {
    max_signed = _mm512_mask_max_epi8(max_signed, those, max_signed, codes);
    max_unsigned = _mm512_mask_max_epu8(max_unsigned, those, max_unsigned, codes);
    min_unsigned = _mm512_mask_min_epu8(min_unsigned, those, min_unsigned, codes);
  }
  // value_of(magnitude) is that of a positive code.
  template <class ValueOf>
  void store_in(Block& block, ValueOf value_of) const {
    const int positive = max_lane<std::int8_t>((Vec<std::int8_t>)max_signed);
    const int most = max_lane<std::uint8_t>((Vec<std::uint8_t>)max_unsigned);
    const int least = min_lane<std::uint8_t>((Vec<std::uint8_t>)min_unsigned);
    const auto value = [&](int code) {
      return code < 0x80 ? value_of(code) : -value_of(code - 0x80);
    };
    block.max.f64 = value(least < 0x80 ? positive : least);
    block.min.f64 = value(most < 0x80 ? least : most);
  }
};

// 16-bit lanes 8 * kQuarter and on, each as the upper end of 64 bits.
template <std::size_t kQuarter>
inline Vec<double> spread(__m512i tops) {
  constexpr auto kFirst = static_cast<std::int64_t>(kQuarter * kWidth<double>);
  const Vec<std::int64_t> lanes = Vec<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7} + kFirst;
  auto index = (__m512i)(lanes << 48);
  __mmask32 upper = 0x88888888;
#if defined(__clang__)
  // What it knows it takes apart, into more instructions than the one that is meant.
  __asm__("" : "+v"(index), "+Yk"(upper));
#endif
  return (Vec<double>)_mm512_maskz_permutexvar_epi16(upper, index, tops);
}

inline std::uint64_t count_lanes(__mmask64 lanes) {
  return static_cast<std::uint64_t>(std::popcount(lanes));
}

struct ByteCounts {
  std::uint64_t finite = 0;
  std::uint64_t infinite = 0;
  std::uint64_t neg_inf = 0;

  void add_infinite(__mmask64 lanes, __m512i codes) {
    infinite += count_lanes(lanes);
    neg_inf += count_lanes(lanes & _mm512_movepi8_mask(codes));
  }
  // Of n elements, and any number of NaN besides.
  void store_in(Block& block, std::size_t n) const {
    block.nan = n - finite - infinite;
    block.pos_inf = infinite - neg_inf;
    block.neg_inf = neg_inf;
  }
};

// Calls add(p, n) with whole registers: those of n elements, and one that NaN fills up.
template <class Add>
inline void for_whole_registers(const std::byte* data, std::size_t n, std::int8_t nan, Add add) {
  const std::size_t whole = n - n % kVectorBytes;
  add(data, whole);
  if (whole == n) return;
  alignas(64) std::byte last[kVectorBytes];
  std::memset(last, nan, kVectorBytes);
  std::memcpy(last, data + whole, n - whole);
  add(unknown(last), kVectorBytes);  // what is asked for ahead of it lies elsewhere
}

template <ByteFloatFormat F>
std::int64_t find_bad_byte(const std::byte* data, std::size_t n) {
  std::int64_t first = 0;
  std::int64_t found = -1;
  for_whole_registers(data, n, F::kNan, [&](const std::byte* p, std::size_t count) {
    for (std::size_t i = 0; i < count && found < 0; i += kVectorBytes, first += kVectorBytes) {
      const __mmask64 bad = ~F::finite(load<__m512i>(p + i));
      if (bad != 0) found = first + std::countr_zero(bad);
    }
  });
  return found;
}

// Codes of which magnitudes grow with the value.
template <ByteFloatFormat F>
inline __m512i ordered(__m512i codes) {
  if constexpr (requires { requires F::kRanked; }) {
    return Lookup(kMagnitudeTables<F>.rank)(codes) | (codes & _mm512_set1_epi8(-0x80));
  } else {
    return codes;
  }
}

// What level full finds besides. value_of(magnitude) is that of an ordered, positive code.
template <ByteFloatFormat F, class ValueOf>
void find_special_bytes(const std::byte* data, std::size_t n, Block& block, ValueOf value_of) {
  __m512i least = _mm512_set1_epi8(-1);  // less 1: that of 0 is the largest of all
  for_whole_registers(data, n, F::kNan, [&](const std::byte* p, std::size_t count) {
    for (std::size_t i = 0; i < count; i += kVectorBytes) {
      const auto codes = load<__m512i>(p + i);
      const __m512i magnitudes = magnitudes_of(codes);
      const __mmask64 finite = F::finite(codes);
      const __mmask64 nothing = _mm512_testn_epi8_mask(magnitudes, magnitudes);
      const __mmask64 below = _mm512_cmplt_epi8_mask(magnitudes, _mm512_set1_epi8(F::kFirstNormal));
      block.zero += count_lanes(nothing & finite);
      block.subnormal += count_lanes(below & ~nothing);
      block.saturated +=
          count_lanes(_mm512_cmpeq_epi8_mask(magnitudes, _mm512_set1_epi8(F::kMaxFinite)));
      const __m512i in_order = magnitudes_of(ordered<F>(codes));
      const __m512i less_1 = _mm512_sub_epi8(in_order, _mm512_set1_epi8(1));
      least = _mm512_mask_min_epu8(least, finite, least, less_1);
    }
  });
  const int smallest = min_lane<std::uint8_t>((Vec<std::uint8_t>)least) + 1;
  if (smallest < 0x80) block.min_abs = value_of(smallest);
}

// Level health.
template <ByteFloatFormat F>
void check_byte_floats(const std::byte* data, std::size_t n, Block& block) {
  clear_counts(block);
  ByteCounts counts;
  for_whole_registers(data, n, F::kNan, [&](const std::byte* p, std::size_t count) {
    for (std::size_t i = 0; i < count; i += kVectorBytes) {
      prefetch_ahead(p + i, kVectorBytes);
      const auto codes = load<__m512i>(p + i);
      const __mmask64 finite = F::finite(codes);
      counts.finite += count_lanes(finite);
      if (~finite != 0) counts.add_infinite(F::infinite(codes), codes);
    }
  });
  counts.store_in(block, n);
}

// Adds n elements, whole registers, to the sums. If none is NaN or Inf, adds them to the extremes,
// too, and returns true.
template <LookedUpFormat F, std::size_t... k>
[[gnu::noinline]] bool add_codes(const std::byte* p, std::size_t n, ByteExtremes& extremes,
                                 Sums& sums, std::index_sequence<k...>) {
  const Lookup low(kMagnitudeTables<F>.low);
  const Lookup high(kMagnitudeTables<F>.high);
  const __m512i sign = _mm512_set1_epi8(-0x80);
  Vec<double> sum[] = {load<Vec<double>>(sums.sum + k * kWidth<double>)...};
  Vec<double> squares[] = {load<Vec<double>>(sums.sum_squares + k * kWidth<double>)...};
  ByteExtremes found;
  __m512i min_signed = _mm512_setzero_si512();
  for (std::size_t i = 0; i < n; i += kVectorBytes) {
    prefetch_ahead(p + i, kVectorBytes);
    const auto codes = load<__m512i>(p + i);
    found.add(ordered<F>(codes));
    if constexpr (F::kHidesNan) min_signed = _mm512_min_epi8(min_signed, codes);
    const __m512i lower = low(codes);
    const __m512i upper = high(codes) | (codes & sign);
    // In each 128 bits the first eight elements, and the last.
    const __m512i first = _mm512_unpacklo_epi8(lower, upper);
    const __m512i last = _mm512_unpackhi_epi8(lower, upper);
    const auto add = [](Vec<double> x, Vec<double>& to_sum, Vec<double>& to_squares) {
      to_sum += x;
      to_squares = add_exact_product(to_squares, x, x);
    };
    (add(spread<k / 2>(k % 2 == 0 ? first : last), sum[k], squares[k]), ...);
    (add(spread<2 + k / 2>(k % 2 == 0 ? first : last), sum[k], squares[k]), ...);
  }
  (store(sums.sum + k * kWidth<double>, sum[k]), ...);
  (store(sums.sum_squares + k * kWidth<double>, squares[k]), ...);
  const __m512i first_bad = _mm512_set1_epi8(F::kFirstBad);
  const __mmask64 bad = _mm512_cmpge_epi8_mask(found.max_signed, first_bad) |
                        _mm512_cmpge_epu8_mask(found.max_unsigned, first_bad | sign) |
                        _mm512_cmpeq_epi8_mask(min_signed, sign);
  if (bad != 0) return false;
  extremes.add(found);
  return true;
}

// What add_codes() does not do where there are NaN and Inf.
template <LookedUpFormat F>
void add_apart(const std::byte* p, std::size_t n, ByteCounts& counts, ByteExtremes& extremes) {
  for (std::size_t i = 0; i < n; i += kVectorBytes) {
    const auto codes = load<__m512i>(p + i);
    const __mmask64 finite = F::finite(codes);
    counts.finite += count_lanes(finite);
    counts.add_infinite(F::infinite(codes), codes);
    extremes.add(ordered<F>(codes), finite);
  }
}

template <LookedUpFormat F, Level kLevel>
void reduce_byte_floats(const std::byte* data, std::size_t n, Block& block) {
  clear_counts(block);
  ByteCounts counts;
  ByteExtremes extremes;
  Sums sums;
  for_whole_registers(data, n, F::kNan, [&](const std::byte* p, std::size_t count) {
    for (std::size_t i = 0; i < count; i += kPieceBytes) {
      const std::size_t piece = count - i < kPieceBytes ? count - i : kPieceBytes;
      if (add_codes<F>(p + i, piece, extremes, sums, std::make_index_sequence<kSumVectors>())) {
        counts.finite += piece;
      } else {
        add_apart<F>(p + i, piece, counts, extremes);
      }
    }
  });
  counts.store_in(block, n);
  std::memcpy(block.sum, sums.sum, sizeof block.sum);
  std::memcpy(block.sum_squares, sums.sum_squares, sizeof block.sum_squares);
  block.sum_exponent = block.squares_exponent = 0;
  const auto value_of = [](int rank) { return kMagnitudeTables<F>.of_rank[rank]; };
  extremes.store_in(block, value_of);
  if constexpr (kLevel == Level::full) {
    find_special_bytes<F>(data, n, block, value_of);
    if (counts.finite != n) block.first_bad = find_bad_byte<F>(data, n);
  }
}
