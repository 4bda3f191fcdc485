// Blocks of 8-bit floats with a sign, where a register looks up 128 bytes at once (AVX-512 VBMI).
// Included inside the tier's anonymous namespace by tier.inl.
//
// The upper 16 bits of a float64 hold every value of these formats: a table of them for the seven
// bits of magnitude, one permutation that spreads them, and nothing has to be converted. The sums
// are those of floats.inl, lane by lane.

// The upper 16 bits of the float64 that is 2^exponent times a positive, finite float16 with four
// bits of mantissa.
constexpr std::uint16_t float64_top(int float16, int exponent) {
  if (float16 == 0) return 0;
  int biased = float16 >> 10;
  int mantissa = float16 & 0x3ff;
  if (biased == 0) {
    for (biased = 1; mantissa < 0x400; --biased) mantissa <<= 1;
  }
  return static_cast<std::uint16_t>((biased - 15 + exponent + 1023) << 4 | (mantissa & 0x3ff) >> 6);
}

// What for_each_piece() has to know of them.
struct Bytes {
  using Bits = std::int8_t;
};

inline __m512i magnitudes_of(__m512i codes) {
  return _mm512_and_si512(codes, _mm512_set1_epi8(0x7f));
}

struct E4m3fnBytes {
  static constexpr bool kRanked = false;
  static constexpr bool kHidesNan = false;
  static constexpr int kFirstBad = 0x7f;
  static constexpr int kFirstNormal = 0x08;
  static constexpr int kMaxFinite = 0x7e;
  static constexpr std::uint16_t top(int magnitude) { return float64_top(magnitude << 7, 8); }
  static constexpr int rank(int magnitude) { return magnitude; }
  static __mmask64 nan(__m512i codes) {
    return _mm512_cmpeq_epi8_mask(magnitudes_of(codes), _mm512_set1_epi8(0x7f));
  }
  static __mmask64 infinite(__m512i) { return 0; }
};

struct E5m2Bytes {
  static constexpr bool kRanked = false;
  static constexpr bool kHidesNan = false;
  static constexpr int kFirstBad = 0x7c;
  static constexpr int kFirstNormal = 0x04;
  static constexpr int kMaxFinite = 0x7b;
  static constexpr std::uint16_t top(int magnitude) { return float64_top(magnitude << 8, 0); }
  static constexpr int rank(int magnitude) { return magnitude; }
  static __mmask64 nan(__m512i codes) {
    return _mm512_cmpgt_epi8_mask(magnitudes_of(codes), _mm512_set1_epi8(0x7c));
  }
  static __mmask64 infinite(__m512i codes) {
    return _mm512_cmpeq_epi8_mask(magnitudes_of(codes), _mm512_set1_epi8(0x7c));
  }
};

struct Hifloat8Bytes {
  static constexpr bool kRanked = true;
  static constexpr bool kHidesNan = true;
  static constexpr int kFirstBad = 0x7f;
  static constexpr int kFirstNormal = 0x08;
  static constexpr int kMaxFinite = 0x6e;
  static constexpr std::uint16_t top(int magnitude) {
    return float64_top(hifloat8_to_float16(magnitude), 0);
  }
  static constexpr int rank(int magnitude) {
    int smaller = 0;
    for (int m = 0; m < 0x80; ++m) {
      smaller += hifloat8_to_float16(m) < hifloat8_to_float16(magnitude) ? 1 : 0;
    }
    return smaller;
  }
  static __mmask64 nan(__m512i codes) {
    return _mm512_cmpeq_epi8_mask(codes, _mm512_set1_epi8(-0x80));
  }
  static __mmask64 infinite(__m512i codes) {
    return _mm512_cmpeq_epi8_mask(magnitudes_of(codes), _mm512_set1_epi8(0x6f));
  }
};

template <ByteFloatFormat F>
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

template <ByteFloatFormat F>
inline constexpr MagnitudeTables<F> kMagnitudeTables;

// 128 bytes in two registers; the sign of a code is no part of its index.
struct Lookup {
  __m512i first;
  __m512i second;
  explicit Lookup(const std::uint8_t* entries)
      : first(load<__m512i>(entries)), second(load<__m512i>(entries + 64)) {}
  __m512i operator()(__m512i codes) const { return _mm512_permutex2var_epi8(first, codes, second); }
};

// The extremes of codes, as the rank of the magnitude or, if negative, its complement.
template <ByteFloatFormat F>
struct ByteExtremes {
  __m512i max = _mm512_set1_epi8(INT8_MIN);
  __m512i min = _mm512_set1_epi8(INT8_MAX);

  static __m512i keys(__m512i codes) {
    const __mmask64 negative = _mm512_movepi8_mask(codes);
    if constexpr (F::kRanked) {
      const __m512i ranks = Lookup(kMagnitudeTables<F>.rank)(codes);
      return _mm512_mask_sub_epi8(ranks, negative, _mm512_set1_epi8(-1), ranks);
    } else {
      return _mm512_mask_sub_epi8(codes, negative, _mm512_set1_epi8(0x7f), codes);
    }
  }
  void add(__m512i codes, __mmask64 those) {
    const __m512i x = keys(codes);
    max = _mm512_mask_max_epi8(max, those, max, x);
    min = _mm512_mask_min_epi8(min, those, min, x);
  }
  void store_in(Block& block) const {
    block.max.f64 = value(max_lane<std::int8_t>((Vec<std::int8_t>)max));
    block.min.f64 = value(min_lane<std::int8_t>((Vec<std::int8_t>)min));
  }

 private:
  static double value(std::int8_t key) {
    return key < 0 ? -kMagnitudeTables<F>.of_rank[~key] : kMagnitudeTables<F>.of_rank[key];
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

// Adds n elements, whole registers, to the sums and, with kExtremes, to the extremes. False, and
// nothing is added, if one is NaN or Inf.
template <ByteFloatFormat F, bool kExtremes, std::size_t... k>
inline bool add_codes(const std::byte* p, std::size_t n, ByteExtremes<F>& extremes, Sums& sums,
                      std::index_sequence<k...>) {
  const Lookup low(kMagnitudeTables<F>.low);
  const Lookup high(kMagnitudeTables<F>.high);
  Vec<double> sum[] = {load<Vec<double>>(sums.sum + k * kWidth<double>)...};
  Vec<double> squares[] = {load<Vec<double>>(sums.sum_squares + k * kWidth<double>)...};
  auto max = extremes.max;
  auto min = extremes.min;
  __mmask64 hidden = 0;
  for (std::size_t i = 0; i < n; i += kVectorBytes) {
    prefetch_ahead(p + i, kVectorBytes);
    const auto codes = load<__m512i>(p + i);
    if constexpr (kExtremes) {
      const __m512i keys = ByteExtremes<F>::keys(codes);
      max = _mm512_max_epi8(max, keys);
      min = _mm512_min_epi8(min, keys);
      if constexpr (F::kHidesNan) hidden |= F::nan(codes);
    }
    const __m512i lower = low(codes);
    const __m512i upper = high(codes) | (codes & _mm512_set1_epi8(-0x80));
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
  if constexpr (kExtremes) {
    // The others order beyond what is finite.
    const __mmask64 above = _mm512_cmpge_epi8_mask(max, _mm512_set1_epi8(F::kFirstBad));
    const __mmask64 below = _mm512_cmple_epi8_mask(min, _mm512_set1_epi8(~F::kFirstBad));
    if ((above | below | hidden) != 0) return false;
  }
  extremes.max = max;
  extremes.min = min;
  (store(sums.sum + k * kWidth<double>, sum[k]), ...);
  (store(sums.sum_squares + k * kWidth<double>, squares[k]), ...);
  return true;
}

template <ByteFloatFormat F, bool kExtremes>
bool add_codes(const std::byte* p, std::size_t n, ByteExtremes<F>& extremes, Sums& sums) {
  return add_codes<F, kExtremes>(p, n, extremes, sums, std::make_index_sequence<kSumVectors>());
}

// Calls visit(codes, those, first) for all of n elements; `those` are lanes that hold one.
template <class Visit>
inline void for_each_byte_register(const std::byte* p, std::size_t n, Visit visit) {
  for (std::size_t i = 0; i < n; i += kVectorBytes) {
    const std::size_t left = n - i;
    const __mmask64 those = left < kVectorBytes ? (__mmask64{1} << left) - 1 : ~__mmask64{0};
    visit(_mm512_maskz_loadu_epi8(those, p + i), those, i);
  }
}

inline std::uint64_t count_lanes(__mmask64 lanes) {
  return static_cast<std::uint64_t>(std::popcount(lanes));
}

struct BadByteCounts {
  std::uint64_t nan = 0;
  std::uint64_t infinite = 0;
  std::uint64_t neg_inf = 0;

  void add(__mmask64 nan_lanes, __mmask64 infinite_lanes, __m512i codes) {
    nan += count_lanes(nan_lanes);
    infinite += count_lanes(infinite_lanes);
    neg_inf += count_lanes(infinite_lanes & _mm512_movepi8_mask(codes));
  }
  void add_to(Block& block) const {
    block.nan += nan;
    block.pos_inf += infinite - neg_inf;
    block.neg_inf += neg_inf;
  }
};

// Counts NaN and Inf of n elements, adds the others to the extremes, and writes all with zero in
// the place of NaN and Inf, filled up to whole registers.
template <ByteFloatFormat F>
Separated separate_bad_bytes(const std::byte* p, std::size_t n, ByteExtremes<F>& extremes,
                             Block& block, std::byte* finite_elements) {
  BadByteCounts bad;
  ByteExtremes<F> local = extremes;
  __m512i ones = _mm512_setzero_si512();
  for_each_byte_register(p, n, [&](__m512i codes, __mmask64 those, std::size_t i) {
    prefetch_ahead(p + i, kVectorBytes);
    const __mmask64 nan = F::nan(codes) & those;
    const __mmask64 infinite = F::infinite(codes) & those;
    const __mmask64 finite = those & ~(nan | infinite);
    bad.add(nan, infinite, codes);
    local.add(codes, finite);
    const __m512i kept = _mm512_maskz_mov_epi8(finite, codes);
    ones |= kept;
    store(finite_elements + i, kept);
  });
  bad.add_to(block);
  extremes = local;
  return {bad.nan + bad.infinite != 0, any_lane(ones)};
}

template <ByteFloatFormat F>
std::int64_t find_bad_byte(const std::byte* p, std::size_t n) {
  std::int64_t found = -1;
  for_each_byte_register(p, n, [&](__m512i codes, __mmask64 those, std::size_t i) {
    const __mmask64 bad = (F::nan(codes) | F::infinite(codes)) & those;
    if (bad != 0 && found < 0) found = static_cast<std::int64_t>(i) + std::countr_zero(bad);
  });
  return found;
}

// What level full counts besides.
template <ByteFloatFormat F>
void count_special_bytes(const std::byte* p, std::size_t n, Block& block) {
  std::uint64_t zero = 0;
  std::uint64_t subnormal = 0;
  std::uint64_t saturated = 0;
  for_each_byte_register(p, n, [&](__m512i codes, __mmask64 those, std::size_t) {
    const __m512i magnitudes = magnitudes_of(codes);
    const __mmask64 nothing = _mm512_testn_epi8_mask(magnitudes, magnitudes);
    const __mmask64 below =
        _mm512_cmplt_epi8_mask(magnitudes, _mm512_set1_epi8(F::kFirstNormal)) & those;
    zero += count_lanes(nothing & those & ~F::nan(codes));
    subnormal += count_lanes(below & ~nothing);
    saturated +=
        count_lanes(_mm512_cmpeq_epi8_mask(magnitudes, _mm512_set1_epi8(F::kMaxFinite)) & those);
  });
  block.zero += zero;
  block.subnormal += subnormal;
  block.saturated += saturated;
}

// Level health.
template <ByteFloatFormat F>
void check_byte_floats(const std::byte* data, std::size_t n, Block& block) {
  clear_counts(block);
  BadByteCounts bad;
  for_each_byte_register(data, n, [&](__m512i codes, __mmask64 those, std::size_t i) {
    prefetch_ahead(data + i, kVectorBytes);
    const __mmask64 nan = F::nan(codes) & those;
    const __mmask64 infinite = F::infinite(codes) & those;
    if ((nan | infinite) != 0) bad.add(nan, infinite, codes);
  });
  bad.add_to(block);
}

template <ByteFloatFormat F, Level kLevel>
void reduce_byte_floats(const std::byte* data, std::size_t n, Block& block) {
  clear_counts(block);
  alignas(64) std::byte finite_elements[kPieceBytes];
  ByteExtremes<F> extremes;
  Sums sums;
  bool expect_bad = false;
  for_each_piece<Direct<Bytes>>(
      data, n, [&](const std::byte* p, std::size_t count, std::size_t first) {
        if constexpr (kLevel == Level::full) count_special_bytes<F>(p, count, block);
        const std::size_t whole = count - count % kVectorBytes;
        const bool added = !expect_bad && add_codes<F, true>(p, whole, extremes, sums);
        const std::size_t done = added ? whole : 0;
        if (done == count) return;
        const Separated separated =
            separate_bad_bytes<F>(p + done, count - done, extremes, block, finite_elements);
        expect_bad = separated.any_bad;
        if (kLevel == Level::full && expect_bad && block.first_bad < 0) {
          block.first_bad =
              static_cast<std::int64_t>(first + done) + find_bad_byte<F>(p + done, count - done);
        }
        if (!separated.any_nonzero) return;
        const std::size_t filled = (count - done + kVectorBytes - 1) / kVectorBytes * kVectorBytes;
        add_codes<F, false>(finite_elements, filled, extremes, sums);
      });
  std::memcpy(block.sum, sums.sum, sizeof block.sum);
  std::memcpy(block.sum_squares, sums.sum_squares, sizeof block.sum_squares);
  block.sum_exponent = block.squares_exponent = 0;
  extremes.store_in(block);
}
