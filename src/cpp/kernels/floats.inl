// Blocks of floating-point elements. Included inside the tier's anonymous namespace by tier.inl.
//
// A block is reduced in pieces that stay in the first-level cache, so that several passes over one
// cost what one costs. NaN and Inf are looked for in each piece; if there are any, they are
// counted, and a copy without them is summed.

// Counts in lanes: counts = count(counts, register) for all of n elements. In two chains, for an
// addition takes longer than the next register does to come.
template <FloatFormat F, class Count>
inline Vec<typename F::Bits> count_registers(const std::byte* p, std::size_t n,
                                             Vec<typename F::Bits> counts, Count count) {
  using Bits = typename F::Bits;
  Vec<Bits> others = {};
  std::size_t i = 0;
  for (; i + 2 * kWidth<Bits> <= n; i += 2 * kWidth<Bits>) {
    const std::byte* pair = p + i * sizeof(Bits);
    counts = count(counts, load<Vec<Bits>>(pair));
    others = count(others, load<Vec<Bits>>(pair + kVectorBytes));
  }
  for_each_register<F>(p + i * sizeof(Bits), n - i, kNan<F>,
                       [&](auto bits, std::size_t) { counts = count(counts, bits); });
  return counts + others;
}

// What level full finds besides, in lanes as wide as the elements.
template <FloatFormat F>
struct SpecialCounts {
  using Bits = typename F::Bits;
  Vec<Bits> zero = {};
  Vec<Bits> below_normal = {};
  Vec<Bits> saturated = {};
  // The smallest magnitude that is not 0, less 1: without its sign that of 0 is the largest of all.
  Vec<Bits> least = broadcast(F::kMagnitude);

  // Adds n elements, which `extremes` know already. Most tensors have few of these: what there is
  // none of is not looked for.
  void add(const std::byte* p, std::size_t n, const FloatExtremes<F>& extremes) {
    constexpr Bits kUsual = F::kMinNormal > 0 ? F::kMinNormal : 1;
    auto smallest = broadcast(F::kMagnitude);
    for_each_register<F>(p, n, kNan<F>, [&](auto bits, std::size_t) {
      const auto magnitude = bits & F::kMagnitude;
      smallest = magnitude < smallest ? magnitude : smallest;
    });
    if (any_lane(smallest < kUsual)) {
      add_small(p, n);
    } else {
      keep_less(smallest - 1);
    }
    if (has_saturated(extremes)) {
      saturated = count_registers<F>(p, n, saturated, [](auto counts, auto bits) {
        return count_equal<Bits>(counts, bits & F::kMagnitude, broadcast(F::kMaxFinite));
      });
    }
  }
  void store_in(Block& block) const {
    block.zero = static_cast<std::uint64_t>(sum_lanes<Bits>(zero));
    block.subnormal = static_cast<std::uint64_t>(sum_lanes<Bits>(below_normal)) - block.zero;
    block.saturated = static_cast<std::uint64_t>(sum_lanes<Bits>(saturated));
    const Bits smallest = min_lane<Bits>(least);
    if (smallest >= F::kInf - 1) return;
    block.min_abs = F::value(static_cast<Bits>(smallest + 1)) * power_of_two(F::kExponent);
  }

 private:
  void keep_less(Vec<Bits> found) { least = found < least ? found : least; }
  void add_small(const std::byte* p, std::size_t n) {
    SpecialCounts local = *this;
    for_each_register<F>(p, n, kNan<F>, [&](auto bits, std::size_t) {
      const auto magnitude = bits & F::kMagnitude;
      local.zero = count_equal<Bits>(local.zero, magnitude, Vec<Bits>{});
      local.below_normal =
          count_greater<Bits>(local.below_normal, broadcast(F::kMinNormal), magnitude);
      local.keep_less((magnitude - 1) & F::kMagnitude);
    });
    *this = local;
  }
  static bool has_saturated(const FloatExtremes<F>& extremes) {
    constexpr auto kLowestFinite = static_cast<Bits>(F::kMaxFinite | ~F::kMagnitude);
    return any_lane((extremes.max >= F::key(F::kMaxFinite)) |
                    (extremes.min <= F::key(kLowestFinite)));
  }
};

// float64 values whose squares leave the range are summed scaled. Values so much smaller than the
// largest that scaling loses them do not show in the result.
template <FloatFormat F, PieceSource Source>
void rescale_moments(const std::byte* data, std::size_t n, Block& block) {
  const double high = block.max.f64 < 0 ? -block.max.f64 : block.max.f64;
  const double low = block.min.f64 < 0 ? -block.min.f64 : block.min.f64;
  const double largest = high > low ? high : low;
  int exponent = 0;
  if (largest > 0x1p480) exponent = ExactSum::kScaleExponent;
  if (largest < 0x1p-440) exponent = -ExactSum::kScaleExponent;
  // Without a finite element it is infinite.
  if (exponent == 0 || largest == 0 || largest > 0x1.fffffffffffffp1023) return;
  const double scale = power_of_two(-exponent);
  for (std::size_t i = 0; i < kLanes; ++i) block.sum[i] = block.sum_squares[i] = 0;
  for_each_piece<Source>(data, n, [&](const std::byte* p, std::size_t count, std::size_t) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto bits = bits_at<F>(p, i);
      if (is_bad<F>(bits)) continue;
      const double x = F::value(bits) * scale;
      block.sum[i % kLanes] += x;
      block.sum_squares[i % kLanes] += x * x;
    }
  });
  block.sum_exponent = exponent;
  block.squares_exponent = 2 * exponent;
}

// Level health.
template <FloatFormat F, PieceSource Source>
void check_floats(const std::byte* data, std::size_t n, Block& block) {
  clear_counts(block);
  BadCounts<F> bad;
  for_each_piece<Source>(data, n, [&](const std::byte* p, std::size_t count, std::size_t) {
    if (any_bad<F>(p, count)) bad.add(p, count);
  });
  bad.store_in(block);
}

template <FloatFormat F, PieceSource Source, Level kLevel>
void reduce_floats(const std::byte* data, std::size_t n, Block& block) {
  clear_counts(block);
  FloatExtremes<F> extremes;
  Sums sums;
  BadCounts<F> bad;
  SpecialCounts<F> special;
  Expect expect = Expect::finite;
  for_each_piece<Source>(data, n, [&](const std::byte* p, std::size_t count, std::size_t first) {
    if (expect != Expect::finite || !add_finite<F>(p, count, extremes, sums)) {
      expect = add_any<F>(p, count, expect, extremes, sums, bad);
      if (kLevel == Level::full && expect != Expect::finite && block.first_bad < 0) {
        const std::int64_t i = find_bad<F>(p, count);
        if (i >= 0) block.first_bad = static_cast<std::int64_t>(first) + i;
      }
    }
    if constexpr (kLevel == Level::full) special.add(p, count, extremes);
  });
  bad.store_in(block);
  if constexpr (kLevel == Level::full) special.store_in(block);
  std::memcpy(block.sum, sums.sum, sizeof block.sum);
  std::memcpy(block.sum_squares, sums.sum_squares, sizeof block.sum_squares);
  const double scale = power_of_two(F::kExponent);
  block.max.f64 = F::key_value(max_lane<typename F::Key>(extremes.max)) * scale;
  block.min.f64 = F::key_value(min_lane<typename F::Key>(extremes.min)) * scale;
  block.sum_exponent = F::kExponent;
  block.squares_exponent = 2 * F::kExponent;
  if constexpr (sizeof(typename F::Bits) == 8) rescale_moments<F, Source>(data, n, block);
}
