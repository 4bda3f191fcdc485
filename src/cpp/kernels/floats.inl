// Blocks of floating-point elements. Included inside the tier's anonymous namespace by tier.inl.
//
// A block is reduced in pieces that stay in the first-level cache, so that several passes over one
// cost what one costs. NaN and Inf are looked for in each piece; if there are any, they are
// counted, and a copy without them is summed.

inline constexpr std::size_t kSumVectors = kLanes / kWidth<double>;

// Sums and squares of so many registers are added at once: more would not stay in registers.
#if defined(__AVX512F__) || defined(__aarch64__)
inline constexpr std::size_t kMaxGroup = 8;
#else
inline constexpr std::size_t kMaxGroup = 4;
#endif
inline constexpr std::size_t kGroup = kSumVectors < kMaxGroup ? kSumVectors : kMaxGroup;

inline constexpr std::size_t kPieceBytes = 8192;
// So many bytes take the slower way for the sake of one NaN or Inf, as long as these are few.
inline constexpr std::size_t kRunBytes = 512;

struct Sums {
  alignas(64) double sum[kLanes] = {};
  alignas(64) double sum_squares[kLanes] = {};
};

struct Float32 {
  using Bits = std::int32_t;
  using Key = float;
  static constexpr Bits kMagnitude = 0x7fffffff;
  static constexpr Bits kInf = 0x7f800000;
  static constexpr Bits kMinNormal = 0x00800000;
  static constexpr Bits kMaxFinite = 0x7f7fffff;
  static constexpr int kExponent = 0;
  static constexpr Key kLowest = -__builtin_inff();
  static constexpr Key kHighest = __builtin_inff();

  static std::size_t lane(std::size_t i) { return i; }
  static double value(Bits bits) { return static_cast<double>(std::bit_cast<float>(bits)); }
  static Key key(Bits bits) { return std::bit_cast<float>(bits); }
  static double key_value(Key key) { return static_cast<double>(key); }
  static Vec<Key> keys(Vec<Bits> bits) { return (Vec<Key>)bits; }

  template <std::size_t k>
  static Vec<double> values(const std::byte* step) {
    return widen(load<Half<float>>(step + k * (kVectorBytes / 2)));
  }
  static Vec<double> add_square(Vec<double> acc, Vec<double> x) {
    return add_exact_product(acc, x, x);
  }
};

// float16 and what decodes to it: extremes are compared as integers that order as the values do.
struct Ordered16 {
  using Bits = std::int16_t;
  using Key = std::int16_t;
  static constexpr Bits kMagnitude = 0x7fff;
  static constexpr Key kLowest = INT16_MIN;
  static constexpr Key kHighest = INT16_MAX;

  // Negative codes are flipped, so that a larger magnitude orders lower. Its own inverse.
  static Key key(Bits bits) { return static_cast<Key>(bits ^ ((bits >> 15) & kMagnitude)); }
  static Vec<Key> keys(Vec<Bits> bits) { return bits ^ ((bits >> 15) & kMagnitude); }
  static Vec<double> add_square(Vec<double> acc, Vec<double> x) {
    return add_exact_product(acc, x, x);
  }
};

// The codes of a format that is read as another of 16 bits.
struct Codes16 {
  std::int16_t min_normal;
  std::int16_t max_finite;
  std::int16_t inf;
  int exponent = 0;  // the value is 2^exponent times what is read
};

template <Codes16 kCodes>
struct Float16As : Ordered16 {
  static constexpr Bits kInf = kCodes.inf;
  static constexpr Bits kMinNormal = kCodes.min_normal;
  static constexpr Bits kMaxFinite = kCodes.max_finite;
  static constexpr int kExponent = kCodes.exponent;

  static std::size_t lane(std::size_t i) { return i; }

  static double value(Bits bits) {
    const int magnitude = bits & kMagnitude;
    const int exponent = magnitude >> 10;
    const int mantissa = magnitude & 0x3ff;
    // Finite codes only: 2^(exponent - 25) is assembled from its bits.
    const int scale = exponent == 0 ? 1 : exponent;
    const auto unit = std::bit_cast<double>(static_cast<std::uint64_t>(scale - 25 + 1023) << 52);
    const double absolute = static_cast<double>(exponent == 0 ? mantissa : mantissa | 0x400) * unit;
    return bits < 0 ? -absolute : absolute;
  }
  static double key_value(Key k) { return value(key(k)); }

  template <std::size_t k>
  static Vec<double> values(const std::byte* step) {
    return widen(load_float16(step + k * (kVectorBytes / 4)));
  }
};

using Float16 = Float16As<Codes16{.min_normal = 0x0400, .max_finite = 0x7bff, .inf = 0x7c00}>;

template <Codes16 kCodes>
struct Bfloat16As : Ordered16 {
  static constexpr Bits kInf = kCodes.inf;
  static constexpr Bits kMinNormal = kCodes.min_normal;
  static constexpr Bits kMaxFinite = kCodes.max_finite;
  static constexpr int kExponent = kCodes.exponent;

  // Even elements fill the first half of the lanes, odd ones the second: a register of pairs splits
  // with a shift and a mask.
  static std::size_t lane(std::size_t i) { return i % 2 * (kLanes / 2) + i / 2; }

  static double value(Bits bits) {
    const auto wide = static_cast<std::uint32_t>(static_cast<std::uint16_t>(bits)) << 16;
    return static_cast<double>(std::bit_cast<float>(wide));
  }
  static double key_value(Key k) { return value(key(k)); }

  template <std::size_t k>
  static Vec<double> values(const std::byte* step) {
    constexpr std::size_t kOdd = kSumVectors / 2;
    const auto pairs = load<Half<std::uint32_t>>(step + k % kOdd * (kVectorBytes / 2));
    return widen((Half<float>)(k < kOdd ? pairs << 16 : pairs & 0xffff0000));
  }
};

using Bfloat16 = Bfloat16As<Codes16{.min_normal = 0x0080, .max_finite = 0x7f7f, .inf = 0x7f80}>;

struct Float64 {
  using Bits = std::int64_t;
  using Key = double;
  static constexpr Bits kMagnitude = 0x7fffffffffffffff;
  static constexpr Bits kInf = 0x7ff0000000000000;
  static constexpr Bits kMinNormal = 0x0010000000000000;
  static constexpr Bits kMaxFinite = 0x7fefffffffffffff;
  static constexpr int kExponent = 0;
  static constexpr Key kLowest = -__builtin_inf();
  static constexpr Key kHighest = __builtin_inf();

  static std::size_t lane(std::size_t i) { return i; }
  static double value(Bits bits) { return std::bit_cast<double>(bits); }
  static Key key(Bits bits) { return std::bit_cast<double>(bits); }
  static double key_value(Key key) { return key; }
  static Vec<Key> keys(Vec<Bits> bits) { return (Vec<Key>)bits; }

  template <std::size_t k>
  static Vec<double> values(const std::byte* step) {
    return load<Vec<double>>(step + k * kVectorBytes);
  }
  static Vec<double> add_square(Vec<double> acc, Vec<double> x) { return acc + x * x; }
};

// Elements that lie in memory as F reads them.
template <class F>
struct Direct {
  static constexpr std::size_t kPieceElements = kPieceBytes / sizeof(typename F::Bits);
  static constexpr std::size_t kBufferBytes = 1;
  static const std::byte* piece(const std::byte* data, std::size_t first, std::size_t, std::byte*) {
    return data + first * sizeof(typename F::Bits);
  }
};

// Elements that D turns into F's codes in a buffer.
template <class F, Decoder D>
struct Decoded {
  static constexpr std::size_t kPieceElements = kPieceBytes / sizeof(typename F::Bits);
  static constexpr std::size_t kBufferBytes = kPieceBytes;
  static const std::byte* piece(const std::byte* data, std::size_t first, std::size_t n,
                                std::byte* buffer) {
    D::decode(data + first * D::kBits / 8, n, buffer);
    return buffer;
  }
};

template <FloatFormat F>
inline typename F::Bits bits_at(const std::byte* p, std::size_t i) {
  return load<typename F::Bits>(p + i * sizeof(typename F::Bits));
}

template <FloatFormat F>
inline bool is_bad(typename F::Bits bits) {
  return (bits & F::kMagnitude) >= F::kInf;
}

template <FloatFormat F>
inline auto finite_mask(Vec<typename F::Bits> bits) {
  return (bits & F::kMagnitude) < F::kInf;
}

// Not zero where a NaN or Inf is.
template <FloatFormat F>
inline auto bad_mask(Vec<typename F::Bits> bits) {
  if constexpr (sizeof(typename F::Bits) == 8) {
    // SSE2 compares no lanes of 64 bits; the upper halves tell.
    constexpr std::int32_t kUpperInf = F::kInf >> 32;
    return (Vec<std::int32_t>)(bits & F::kInf) > kUpperInf - 1;
  } else {
    return (bits & F::kMagnitude) >= F::kInf;
  }
}

// Calls visit(register, first) for all of n elements, the last register filled up with `filler`.
template <FloatFormat F, class Visit>
inline void for_each_register(const std::byte* p, std::size_t n, typename F::Bits filler,
                              Visit visit) {
  using Bits = typename F::Bits;
  const std::size_t whole = n - n % kWidth<Bits>;
  for (std::size_t i = 0; i < whole; i += kWidth<Bits>) {
    visit(load<Vec<Bits>>(p + i * sizeof(Bits)), i);
  }
  if (whole == n) return;
  Bits last[kWidth<Bits>];
  for (Bits& bits : last) bits = filler;
  std::memcpy(last, p + whole * sizeof(Bits), (n - whole) * sizeof(Bits));
  visit(load<Vec<Bits>>(last), whole);
}

template <FloatFormat F>
constexpr std::size_t fillers_of(std::size_t n) {
  constexpr std::size_t kLaneCount = kWidth<typename F::Bits>;
  return (kLaneCount - n % kLaneCount) % kLaneCount;
}

// A filler that is in no extreme and no count but one.
template <FloatFormat F>
inline constexpr typename F::Bits kNan = F::kInf + 1;

template <FloatFormat F>
bool any_bad(const std::byte* p, std::size_t n) {
  decltype(bad_mask<F>(Vec<typename F::Bits>{})) bad = {};
  for_each_register<F>(p, n, 0, [&](auto bits, std::size_t i) {
    prefetch_ahead(p + i * sizeof(typename F::Bits), kVectorBytes);
    bad |= bad_mask<F>(bits);
  });
  return any_lane(bad);
}

template <FloatFormat F>
struct FloatExtremes {
  Vec<typename F::Key> max = broadcast(F::kLowest);
  Vec<typename F::Key> min = broadcast(F::kHighest);
};

// Adds the lanes of x that are finite. The others are left out by comparing the best with itself.
template <class V, class Mask>
inline void add_masked(V x, Mask finite, V& max, V& min) {
  const V high = finite ? x : max;
  const V low = finite ? x : min;
  max = high > max ? high : max;
  min = low < min ? low : min;
}

// Adds those of n elements that are finite.
template <FloatFormat F>
void add_extremes(const std::byte* p, std::size_t n, FloatExtremes<F>& extremes) {
  FloatExtremes<F> local = extremes;
  for_each_register<F>(p, n, kNan<F>, [&](auto bits, std::size_t) {
    add_masked(F::keys(bits), finite_mask<F>(bits), local.max, local.min);
  });
  extremes = local;
}

// How many elements are NaN or infinite, in lanes as wide as the elements: a block has too few
// elements to overflow one.
template <FloatFormat F>
struct BadCounts {
  using Bits = typename F::Bits;
  static constexpr Bits kNegInf = static_cast<Bits>(F::kInf | ~F::kMagnitude);
  Vec<Bits> bad = {};
  Vec<Bits> pos_inf = {};
  Vec<Bits> neg_inf = {};
  std::size_t n_fillers = 0;  // counted as NaN

  void add(Vec<Bits> bits) {
    bad = count_greater<Bits>(bad, bits & F::kMagnitude, broadcast<Bits>(F::kInf - 1));
    pos_inf = count_equal<Bits>(pos_inf, bits, broadcast(F::kInf));
    neg_inf = count_equal<Bits>(neg_inf, bits, broadcast(kNegInf));
  }
  void add(const std::byte* p, std::size_t n) {
    BadCounts local = *this;
    for_each_register<F>(p, n, kNan<F>, [&](auto bits, std::size_t) { local.add(bits); });
    local.n_fillers += fillers_of<F>(n);
    *this = local;
  }
  void store_in(Block& block) const {
    block.pos_inf = static_cast<std::uint64_t>(sum_lanes<Bits>(pos_inf));
    block.neg_inf = static_cast<std::uint64_t>(sum_lanes<Bits>(neg_inf));
    const auto all = static_cast<std::uint64_t>(sum_lanes<Bits>(bad));
    block.nan = all - block.pos_inf - block.neg_inf - n_fillers;
  }
};

struct Separated {
  bool any_bad = false;
  bool any_nonzero = false;  // among the finite elements
};

// Adds those of n elements that are not finite to the counts, and writes all with zero in the place
// of these, which changes no sum.
template <FloatFormat F>
Separated separate_bad(const std::byte* p, std::size_t n, BadCounts<F>& counts,
                       std::byte* finite_elements) {
  using Bits = typename F::Bits;
  BadCounts<F> local = counts;
  Vec<Bits> ones = {};
  for_each_register<F>(p, n, kNan<F>, [&](auto bits, std::size_t i) {
    prefetch_ahead(p + i * sizeof(Bits), kVectorBytes);
    local.add(bits);
    const auto finite = bits & finite_mask<F>(bits);
    ones |= finite;
    store(finite_elements + i * sizeof(Bits), finite);
  });
  const std::size_t n_fillers = fillers_of<F>(n);
  local.n_fillers += n_fillers;
  const bool any_bad = n_fillers != 0 || any_lane(local.bad ^ counts.bad);
  counts = local;
  return {any_bad, any_lane(ones)};
}

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

// Adds whole steps to the lanes of kGroup registers, the first of which is kFirst; those to
// `extremes` too if kFirst is 0.
template <FloatFormat F, bool kExtremes, std::size_t kFirst, std::size_t... k>
inline void add_group(const std::byte* p, std::size_t n, FloatExtremes<F>& extremes, Sums& sums,
                      std::index_sequence<k...>) {
  using Bits = typename F::Bits;
  constexpr std::size_t kWidthDouble = kWidth<double>;
  Vec<double> sum[] = {load<Vec<double>>(sums.sum + (kFirst + k) * kWidthDouble)...};
  Vec<double> squares[] = {load<Vec<double>>(sums.sum_squares + (kFirst + k) * kWidthDouble)...};
  auto max = extremes.max;
  auto min = extremes.min;
  for (std::size_t i = 0; i < n; i += kLanes) {
    const std::byte* step = p + i * sizeof(Bits);
    if constexpr (kFirst == 0) prefetch_ahead(step, kLanes * sizeof(Bits));
    if constexpr (kExtremes) {
#pragma GCC unroll 16
      for (std::size_t v = 0; v < kLanes / kWidth<Bits>; ++v) {
        const auto x = F::keys(load<Vec<Bits>>(step + v * kVectorBytes));
        max = x > max ? x : max;
        min = x < min ? x : min;
      }
      if constexpr (sizeof(Bits) == 2) step = load_again(step);
    }
    const auto add = [](Vec<double> x, Vec<double>& to_sum, Vec<double>& to_squares) {
      to_sum += x;
      to_squares = F::add_square(to_squares, x);
    };
    (add(F::template values<kFirst + k>(step), sum[k], squares[k]), ...);
  }
  extremes = {max, min};
  (store(sums.sum + (kFirst + k) * kWidthDouble, sum[k]), ...);
  (store(sums.sum_squares + (kFirst + k) * kWidthDouble, squares[k]), ...);
}

template <FloatFormat F, bool kExtremes>
void add_steps(const std::byte* p, std::size_t n, FloatExtremes<F>& extremes, Sums& sums) {
  [&]<std::size_t... group>(std::index_sequence<group...>) {
    (add_group < F, kExtremes && group == 0,
     group * kGroup > (p, n, extremes, sums, std::make_index_sequence<kGroup>()), ...);
  }(std::make_index_sequence<kSumVectors / kGroup>());
}

template <FloatFormat F>
void add_last_sums(const std::byte* p, std::size_t n, Sums& sums) {
  for (std::size_t i = 0; i < n; ++i) {
    const double x = F::value(bits_at<F>(p, i));
    const std::size_t lane = F::lane(i);
    sums.sum[lane] += x;
    sums.sum_squares[lane] += x * x;
  }
}

// False if a NaN or Inf was added.
template <FloatFormat F>
inline bool is_all_finite(const FloatExtremes<F>& extremes, const Sums& sums) {
  if constexpr (std::is_integral_v<typename F::Key>) {
    // They order beyond the others.
    return !any_lane((extremes.max >= F::kInf) |
                     (extremes.min <= static_cast<typename F::Key>(~F::kInf)));
  } else {
    // They stay in the squares, which may also have overflowed.
    Vec<std::int64_t> bad = {};
    for (std::size_t k = 0; k < kLanes; k += kWidth<double>) {
      bad |= ~(load<Vec<double>>(sums.sum_squares + k) < __builtin_inf());
    }
    return !any_lane(bad);
  }
}

// Adds n elements. False, and nothing is added, if one is NaN or Inf or a square overflows.
template <FloatFormat F>
bool add_finite(const std::byte* p, std::size_t n, FloatExtremes<F>& extremes, Sums& sums) {
  const std::size_t whole = n - n % kLanes;
  const std::byte* last = p + whole * sizeof(typename F::Bits);
  if (any_bad<F>(last, n - whole)) return false;
  const FloatExtremes<F> extremes_before = extremes;
  const Sums sums_before = sums;
  add_steps<F, true>(p, whole, extremes, sums);
  if (!is_all_finite<F>(extremes, sums)) {
    extremes = extremes_before;
    sums = sums_before;
    return false;
  }
  if (whole != n) {
    add_extremes<F>(last, n - whole, extremes);
    add_last_sums<F>(last, n - whole, sums);
  }
  return true;
}

// Adds n elements whose NaN and Inf are zeros in finite_elements.
template <FloatFormat F>
void add_separated(const std::byte* p, const std::byte* finite_elements, std::size_t n,
                   FloatExtremes<F>& extremes, Sums& sums) {
  const std::size_t whole = n - n % kLanes;
  FloatExtremes<F> found;
  add_steps<F, true>(finite_elements, whole, found, sums);
  const std::size_t last = whole * sizeof(typename F::Bits);
  add_last_sums<F>(finite_elements + last, n - whole, sums);
  // Between elements of both signs the zeros are no extremes.
  if (any_lane(found.max > F::key(0)) && any_lane(found.min < F::key(0))) {
    extremes.max = found.max > extremes.max ? found.max : extremes.max;
    extremes.min = found.min < extremes.min ? found.min : extremes.min;
    add_extremes<F>(p + last, n - whole, extremes);
  } else {
    add_extremes<F>(p, n, extremes);
  }
}

// What the pieces before tell of the next.
enum class Expect {
  finite,
  few_bad,   // in less than half of the runs
  many_bad,  // to look for them run by run would cost more than it saves
};

// Adds n elements, a piece at most, NaN and Inf among them.
template <FloatFormat F>
Expect add_any(const std::byte* p, std::size_t n, Expect expect, FloatExtremes<F>& extremes,
               Sums& sums, BadCounts<F>& bad) {
  using Bits = typename F::Bits;
  constexpr std::size_t kFewRun = kRunBytes / sizeof(Bits);
  static_assert(kFewRun % kLanes == 0 && kFewRun % kWidth<Bits> == 0);
  alignas(64) std::byte finite_elements[kPieceBytes];
  const bool is_cut = expect != Expect::many_bad && n > kFewRun;
  const std::size_t run = is_cut ? kFewRun : n;
  std::size_t n_bad = 0;
  for (std::size_t first = 0; first < n; first += run) {
    const std::byte* at = p + first * sizeof(Bits);
    const std::size_t count = n - first < run ? n - first : run;
    if (is_cut && count == kFewRun && !any_bad<F>(at, kFewRun)) {
      add_steps<F, true>(at, kFewRun, extremes, sums);
      continue;
    }
    const Separated separated = separate_bad<F>(at, count, bad, finite_elements);
    if (separated.any_bad) ++n_bad;
    if (separated.any_nonzero) {
      add_separated<F>(at, finite_elements, count, extremes, sums);
    } else {
      add_extremes<F>(at, count, extremes);
    }
  }
  if (n_bad == 0) return Expect::finite;
  return 2 * n_bad * run < n ? Expect::few_bad : Expect::many_bad;
}

template <PieceSource Source, class Visit>
inline void for_each_piece(const std::byte* data, std::size_t n, Visit visit) {
  alignas(64) std::byte buffer[Source::kBufferBytes];
  for (std::size_t first = 0; first < n; first += Source::kPieceElements) {
    const std::size_t count =
        n - first < Source::kPieceElements ? n - first : Source::kPieceElements;
    visit(Source::piece(data, first, count, buffer), count, first);
  }
}

template <FloatFormat F>
std::int64_t find_bad(const std::byte* p, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    if (is_bad<F>(bits_at<F>(p, i))) return static_cast<std::int64_t>(i);
  }
  return -1;
}

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
