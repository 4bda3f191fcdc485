// Blocks of float8_e8m0fnu, powers of two (AVX-512). Included inside the tier's anonymous namespace
// by tier.inl.
//
// With another bias a code is the exponent of a float64, of which nothing else is set. The sums are
// those of float_sums.inl for the bfloat16 that the elements are elsewhere, lane by lane.

inline constexpr std::int8_t kE8m0fnuNan = -1;

struct ExponentExtremes {
  __m512i max = _mm512_setzero_si512();
  __m512i min = _mm512_set1_epi8(-1);

  void add(__m512i codes, __mmask64 those) {
    max = _mm512_mask_max_epu8(max, those, max, codes);
    min = _mm512_mask_min_epu8(min, those, min, codes);
  }
  void store_in(Block& block) const {
    block.max.f64 = power_of_two(max_lane<std::uint8_t>((Vec<std::uint8_t>)max) - 127);
    block.min.f64 = power_of_two(min_lane<std::uint8_t>((Vec<std::uint8_t>)min) - 127);
  }
};

// The upper 16 bits of the float64 of 16-bit codes; 0 in the place of NaN.
inline __m512i exponents_of(__m512i codes) {
  constexpr auto kNan = static_cast<std::uint8_t>(kE8m0fnuNan);
  constexpr std::int16_t kBias = (1023 - 127) << 4;
  const __mmask32 finite = _mm512_cmpneq_epi16_mask(codes, _mm512_set1_epi16(kNan));
  return _mm512_maskz_add_epi16(finite, _mm512_slli_epi16(codes, 4), _mm512_set1_epi16(kBias));
}

// Adds n elements, whole registers, and returns how many are finite.
template <std::size_t... k>
[[gnu::noinline]] std::uint64_t add_e8m0fnu(const std::byte* p, std::size_t n,
                                            ExponentExtremes& extremes, Sums& sums,
                                            std::index_sequence<k...>) {
  constexpr std::size_t kOdd = kSumVectors / 2;
  Vec<double> sum[] = {load<Vec<double>>(sums.sum + k * kWidth<double>)...};
  Vec<double> squares[] = {load<Vec<double>>(sums.sum_squares + k * kWidth<double>)...};
  ExponentExtremes found = extremes;
  std::uint64_t n_finite = 0;
  for (std::size_t i = 0; i < n; i += kVectorBytes) {
    prefetch_ahead(p + i, kVectorBytes);
    const auto codes = load<__m512i>(p + i);
    const __mmask64 finite = _mm512_cmpneq_epi8_mask(codes, _mm512_set1_epi8(kE8m0fnuNan));
    n_finite += count_lanes(finite);
    found.add(codes, finite);
    const __m512i even = exponents_of(codes & _mm512_set1_epi16(0xff));
    const __m512i odd = exponents_of(_mm512_srli_epi16(codes, 8));
    const auto add = [](Vec<double> x, Vec<double>& to_sum, Vec<double>& to_squares) {
      to_sum += x;
      to_squares = add_exact_product(to_squares, x, x);
    };
    (add(spread<k % kOdd>(k < kOdd ? even : odd), sum[k], squares[k]), ...);
    (add(spread<kOdd + k % kOdd>(k < kOdd ? even : odd), sum[k], squares[k]), ...);
  }
  extremes = found;
  (store(sums.sum + k * kWidth<double>, sum[k]), ...);
  (store(sums.sum_squares + k * kWidth<double>, squares[k]), ...);
  return n_finite;
}

template <Level kLevel>
void reduce_e8m0fnu(const std::byte* data, std::size_t n, Block& block) {
  clear_counts(block);
  ExponentExtremes extremes;
  Sums sums;
  std::uint64_t finite = 0;
  for_whole_registers(data, n, kE8m0fnuNan, [&](const std::byte* p, std::size_t count) {
    finite += add_e8m0fnu(p, count, extremes, sums, std::make_index_sequence<kSumVectors>());
  });
  block.nan = n - finite;
  std::memcpy(block.sum, sums.sum, sizeof block.sum);
  std::memcpy(block.sum_squares, sums.sum_squares, sizeof block.sum_squares);
  block.sum_exponent = block.squares_exponent = 0;
  extremes.store_in(block);
  if constexpr (kLevel == Level::full) {
    if (finite != 0) block.min_abs = block.min.f64;
    block.saturated =
        count_integers<std::int8_t>(data, n, [](auto x) { return x == kE8m0fnuNan - 1; });
    for (std::size_t i = 0; block.nan != 0 && block.first_bad < 0; ++i) {
      if (data[i] == std::byte{0xff}) block.first_bad = static_cast<std::int64_t>(i);
    }
  }
}
