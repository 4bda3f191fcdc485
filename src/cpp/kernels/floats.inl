// Blocks of floating-point elements. Included inside the tier's anonymous namespace by tier.inl.
//
// A format F says how bits are read:
//   Bits                 the signed integer of an element's width
//   kMagnitude, kInf     masks: all but the sign; the code of +Inf (above it: NaN)
//   kMinNormal, kMaxFinite   codes, for the counts of level full
//   kExponent            the value of a code is what F reads times 2^kExponent
//   kStep                elements that one vector step consumes
//   lane(i)              the lane of element i of a step
//   value(bits)          one element
//   add_extremes<kBad>(p, max, min), add_sums<kBad>(p, sum, sum_squares)
//                        one vector step; kBad leaves NaN and Inf out, else there must be none
// Extremes are compared in lanes of type F::Key and turned into values by F::key_value.

inline constexpr std::size_t kSumVectors = kLanes / kWidth<double>;

template <class Key>
struct Accumulators {
  Vec<double> sum[kSumVectors] = {};
  Vec<double> sum_squares[kSumVectors] = {};
  Vec<Key> max;
  Vec<Key> min;
};

using SumLanes = Vec<double>[kSumVectors];

template <bool kBad>
inline void add_half(Vec<double>& sum, Vec<double>& sum_squares, Half<float> x) {
  if constexpr (kBad) {
    const auto bits = (Half<std::int32_t>)x;
    x = (Half<float>)(bits & ((bits & 0x7fffffff) < 0x7f800000));
  }
  const Vec<double> wide = widen(x);
  sum += wide;
  sum_squares = add_exact_product(sum_squares, wide, wide);
}

// A NaN or Inf is left out of extremes by comparing the lane's best with itself.
template <bool kBad, class V, class Mask>
inline void keep_extremes(V& max, V& min, V x, Mask finite) {
  const V high = kBad ? (finite ? x : max) : x;
  const V low = kBad ? (finite ? x : min) : x;
  max = high > max ? high : max;
  min = low < min ? low : min;
}

struct Float32 {
  using Bits = std::int32_t;
  using Key = float;
  static constexpr Bits kMagnitude = 0x7fffffff;
  static constexpr Bits kInf = 0x7f800000;
  static constexpr Bits kMinNormal = 0x00800000;
  static constexpr Bits kMaxFinite = 0x7f7fffff;
  static constexpr int kExponent = 0;
  static constexpr std::size_t kStep = kLanes;
  static constexpr Key kLowest = -__builtin_inff();
  static constexpr Key kHighest = __builtin_inff();

  static std::size_t lane(std::size_t i) { return i; }
  static double value(Bits bits) { return static_cast<double>(std::bit_cast<float>(bits)); }
  static Key key(Bits bits) { return std::bit_cast<float>(bits); }
  static double key_value(Key key) { return static_cast<double>(key); }

  template <bool kBad>
  static void add_extremes(const std::byte* p, Vec<Key>& max, Vec<Key>& min) {
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kStep / kWidth<float>; ++v) {
      const auto x = load<Vec<float>>(p + v * kVectorBytes);
      const auto finite = ((Vec<std::int32_t>)x & kMagnitude) < kInf;
      keep_extremes<kBad>(max, min, x, finite);
    }
  }

  template <bool kBad>
  static void add_sums(const std::byte* p, SumLanes& sum, SumLanes& sum_squares) {
#pragma GCC unroll 8
    for (std::size_t k = 0; k < kSumVectors; ++k) {
      add_half<kBad>(sum[k], sum_squares[k], load<Half<float>>(p + k * (kVectorBytes / 2)));
    }
  }
};

// float16 and what decodes to it: extremes are compared as integers that order as the values do.
struct Ordered16 {
  using Bits = std::int16_t;
  using Key = std::int16_t;
  static constexpr Bits kMagnitude = 0x7fff;
  static constexpr std::size_t kStep = 32;  // a whole register of the widest tier
  static constexpr Key kLowest = INT16_MIN;
  static constexpr Key kHighest = INT16_MAX;

  // Negative codes are flipped, so that a larger magnitude orders lower. Its own inverse.
  static Key key(Bits bits) { return static_cast<Key>(bits ^ ((bits >> 15) & kMagnitude)); }

  template <bool kBad, Bits kInf>
  static void add_extremes_16(const std::byte* p, Vec<Key>& max, Vec<Key>& min) {
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kStep / kWidth<Bits>; ++v) {
      const auto raw = load<Vec<Bits>>(p + v * kVectorBytes);
      const auto finite = (raw & kMagnitude) < kInf;
      keep_extremes<kBad>(max, min, raw ^ ((raw >> 15) & kMagnitude), finite);
    }
  }
};

template <std::int16_t kMinNormalBits, std::int16_t kMaxFiniteBits, int kScale>
struct Float16As : Ordered16 {
  static constexpr Bits kInf = 0x7c00;
  static constexpr Bits kMinNormal = kMinNormalBits;
  static constexpr Bits kMaxFinite = kMaxFiniteBits;
  static constexpr int kExponent = kScale;

  static std::size_t lane(std::size_t i) { return i % kLanes; }

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

  template <bool kBad>
  static void add_extremes(const std::byte* p, Vec<Key>& max, Vec<Key>& min) {
    add_extremes_16<kBad, kInf>(p, max, min);
  }

  template <bool kBad>
  static void add_sums(const std::byte* p, SumLanes& sum, SumLanes& sum_squares) {
#pragma GCC unroll 16
    for (std::size_t k = 0; k < kStep / kWidth<double>; ++k) {
      const std::size_t lanes = k % kSumVectors;
      add_half<kBad>(sum[lanes], sum_squares[lanes], load_float16(p + k * (kVectorBytes / 4)));
    }
  }
};

using Float16 = Float16As<0x0400, 0x7bff, 0>;

template <std::int16_t kMinNormalBits, std::int16_t kMaxFiniteBits>
struct Bfloat16As : Ordered16 {
  static constexpr Bits kInf = 0x7f80;
  static constexpr Bits kMinNormal = kMinNormalBits;
  static constexpr Bits kMaxFinite = kMaxFiniteBits;
  static constexpr int kExponent = 0;

  // Even elements fill the first half of the lanes, odd ones the second: a register of pairs splits
  // with a shift and a mask.
  static std::size_t lane(std::size_t i) { return i % 2 * (kLanes / 2) + i / 2 % (kLanes / 2); }

  static double value(Bits bits) {
    const auto wide = static_cast<std::uint32_t>(static_cast<std::uint16_t>(bits)) << 16;
    return static_cast<double>(std::bit_cast<float>(wide));
  }
  static double key_value(Key k) { return value(key(k)); }

  template <bool kBad>
  static void add_extremes(const std::byte* p, Vec<Key>& max, Vec<Key>& min) {
    add_extremes_16<kBad, kInf>(p, max, min);
  }

  template <bool kBad>
  static void add_sums(const std::byte* p, SumLanes& sum, SumLanes& sum_squares) {
    constexpr std::size_t kOdd = kSumVectors / 2;
#pragma GCC unroll 8
    for (std::size_t k = 0; k < kStep * sizeof(Bits) / (kVectorBytes / 2); ++k) {
      const auto pairs = load<Half<std::uint32_t>>(p + k * (kVectorBytes / 2));
      const std::size_t even = k % kOdd;
      const std::size_t odd = even + kOdd;
      add_half<kBad>(sum[even], sum_squares[even], (Half<float>)(pairs << 16));
      add_half<kBad>(sum[odd], sum_squares[odd], (Half<float>)(pairs & 0xffff0000));
    }
  }
};

using Bfloat16 = Bfloat16As<0x0080, 0x7f7f>;

struct Float64 {
  using Bits = std::int64_t;
  using Key = double;
  static constexpr Bits kMagnitude = 0x7fffffffffffffff;
  static constexpr Bits kInf = 0x7ff0000000000000;
  static constexpr Bits kMinNormal = 0x0010000000000000;
  static constexpr Bits kMaxFinite = 0x7fefffffffffffff;
  static constexpr int kExponent = 0;
  static constexpr std::size_t kStep = kLanes;
  static constexpr Key kLowest = -__builtin_inf();
  static constexpr Key kHighest = __builtin_inf();

  static std::size_t lane(std::size_t i) { return i; }
  static double value(Bits bits) { return std::bit_cast<double>(bits); }
  static Key key(Bits bits) { return std::bit_cast<double>(bits); }
  static double key_value(Key key) { return key; }

  template <bool kBad>
  static void add_extremes(const std::byte* p, Vec<Key>& max, Vec<Key>& min) {
#pragma GCC unroll 8
    for (std::size_t k = 0; k < kSumVectors; ++k) {
      const auto x = load<Vec<double>>(p + k * kVectorBytes);
      const auto finite = ((Vec<std::int64_t>)x & kMagnitude) < kInf;
      keep_extremes<kBad>(max, min, x, finite);
    }
  }

  template <bool kBad>
  static void add_sums(const std::byte* p, SumLanes& sum, SumLanes& sum_squares) {
#pragma GCC unroll 8
    for (std::size_t k = 0; k < kSumVectors; ++k) {
      auto bits = load<Vec<std::int64_t>>(p + k * kVectorBytes);
      if constexpr (kBad) bits &= (bits & kMagnitude) < kInf;
      const auto x = (Vec<double>)bits;
      sum[k] += x;
      sum_squares[k] += x * x;
    }
  }
};

// Elements that lie in memory as F reads them.
template <class F>
struct Direct {
  static constexpr std::size_t kPieceElements = kMaxBlockElements;
  static constexpr std::size_t kPieceBytes = 1;
  static const std::byte* piece(const std::byte* data, std::size_t first, std::size_t, std::byte*) {
    return data + first * sizeof(typename F::Bits);
  }
};

// Elements that Decoder turns into F's codes, a piece at a time, in a buffer that stays in the
// cache.
template <class F, class Decoder>
struct Decoded {
  static constexpr std::size_t kPieceElements = 1024;
  static constexpr std::size_t kPieceBytes = kPieceElements * sizeof(typename F::Bits);
  static const std::byte* piece(const std::byte* data, std::size_t first, std::size_t n,
                                std::byte* buffer) {
    Decoder::decode(data + first * Decoder::kBits / 8, n, buffer);
    return buffer;
  }
};

template <class Source, class Visit>
inline void for_each_piece(const std::byte* data, std::size_t n, Visit visit) {
  alignas(64) std::byte buffer[Source::kPieceBytes];
  for (std::size_t first = 0; first < n; first += Source::kPieceElements) {
    const std::size_t count =
        n - first < Source::kPieceElements ? n - first : Source::kPieceElements;
    visit(Source::piece(data, first, count, buffer), count, first);
  }
}

template <class F>
inline typename F::Bits bits_at(const std::byte* p, std::size_t i) {
  return load<typename F::Bits>(p + i * sizeof(typename F::Bits));
}

template <class F>
inline bool is_bad(typename F::Bits bits) {
  return (bits & F::kMagnitude) >= F::kInf;
}

// n is a multiple of F::kStep. Works on a copy, which compilers keep in registers.
template <class F, bool kBad>
inline void add_steps(const std::byte* p, std::size_t n, Accumulators<typename F::Key>& acc) {
  Accumulators<typename F::Key> local = acc;
  Vec<typename F::Key> max = acc.max;
  Vec<typename F::Key> min = acc.min;
  for (std::size_t i = 0; i < n; i += F::kStep) {
    const std::byte* step = p + i * sizeof(typename F::Bits);
    F::template add_extremes<kBad>(step, max, min);
    F::template add_sums<kBad>(step, local.sum, local.sum_squares);
  }
  local.max = max;
  local.min = min;
  acc = local;
}

// Fills the moments and extremes of `block`. False if kBad is false and a NaN or Inf was met.
template <class F, class Source, bool kBad>
bool add_moments(const std::byte* data, std::size_t n, Block& block) {
  using Key = typename F::Key;
  Accumulators<Key> acc;
  acc.max = broadcast(F::kLowest);
  acc.min = broadcast(F::kHighest);
  Key max = F::kLowest;
  Key min = F::kHighest;
  bool met_bad = false;  // among the last elements
  for_each_piece<Source>(data, n, [&](const std::byte* p, std::size_t count, std::size_t) {
    const std::size_t whole = count - count % F::kStep;
    add_steps<F, kBad>(p, whole, acc);
    if (whole == count) return;
    // The last elements of the block: each to the end of its lane.
    alignas(64) double sum[kLanes];
    alignas(64) double sum_squares[kLanes];
    store_lanes(acc.sum, sum);
    store_lanes(acc.sum_squares, sum_squares);
    for (std::size_t i = whole; i < count; ++i) {
      const auto bits = bits_at<F>(p, i);
      if (is_bad<F>(bits)) {
        met_bad = true;
        continue;
      }
      const double x = F::value(bits);
      const std::size_t lane = F::lane(i - whole);
      sum[lane] += x;
      sum_squares[lane] += x * x;
      const Key key = F::key(bits);
      max = key > max ? key : max;
      min = key < min ? key : min;
    }
    load_lanes(sum, acc.sum);
    load_lanes(sum_squares, acc.sum_squares);
  });
  store_lanes(acc.sum, block.sum);
  store_lanes(acc.sum_squares, block.sum_squares);
  if constexpr (!kBad) {
    if (met_bad) return false;
    // NaN and Inf stay in the squares; a float64 block may also get here by overflow.
    for (const double square : block.sum_squares) {
      if (!(square < __builtin_inf())) return false;
    }
  }
  const Key best_max = max_lane<Key>(acc.max);
  const Key best_min = min_lane<Key>(acc.min);
  const double scale = power_of_two(F::kExponent);
  block.max.f64 = F::key_value(best_max > max ? best_max : max) * scale;
  block.min.f64 = F::key_value(best_min < min ? best_min : min) * scale;
  block.sum_exponent = F::kExponent;
  block.squares_exponent = 2 * F::kExponent;
  return true;
}

// float64 values whose squares leave the range are summed scaled. Values so much smaller than the
// largest that scaling loses them do not show in the result.
template <class F, class Source>
void rescale_moments(const std::byte* data, std::size_t n, Block& block) {
  const double high = block.max.f64 < 0 ? -block.max.f64 : block.max.f64;
  const double low = block.min.f64 < 0 ? -block.min.f64 : block.min.f64;
  const double largest = high > low ? high : low;
  int exponent = 0;
  if (largest > 0x1p480) exponent = ExactSum::kScaleExponent;
  if (largest < 0x1p-440) exponent = -ExactSum::kScaleExponent;
  if (exponent == 0 || largest == 0) return;
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

template <class F>
bool any_bad(const std::byte* p, std::size_t n) {
  using Bits = typename F::Bits;
  const std::size_t whole = n - n % kWidth<Bits>;
  Vec<Bits> bad = {};
  for (std::size_t i = 0; i < whole; i += kWidth<Bits>) {
    bad |= (load<Vec<Bits>>(p + i * sizeof(Bits)) & F::kMagnitude) >= F::kInf;
  }
  bool any = false;
  for (const LaneArray<Bits> all(bad); const Bits lane : all.lanes) any |= lane != 0;
  for (std::size_t i = whole; i < n; ++i) any |= is_bad<F>(bits_at<F>(p, i));
  return any;
}

// Counts in lanes as wide as the elements: a block has too few elements to overflow one.
template <class F>
void count_bad(const std::byte* p, std::size_t n, Block& block) {
  using Bits = typename F::Bits;
  constexpr Bits kNegInf = static_cast<Bits>(F::kInf | ~F::kMagnitude);
  const std::size_t whole = n - n % kWidth<Bits>;
  Vec<Bits> nan = {};
  Vec<Bits> pos_inf = {};
  Vec<Bits> neg_inf = {};
  for (std::size_t i = 0; i < whole; i += kWidth<Bits>) {
    const auto raw = load<Vec<Bits>>(p + i * sizeof(Bits));
    nan -= (raw & F::kMagnitude) > F::kInf;
    pos_inf -= raw == F::kInf;
    neg_inf -= raw == kNegInf;
  }
  block.nan += static_cast<std::uint64_t>(sum_lanes<Bits>(nan));
  block.pos_inf += static_cast<std::uint64_t>(sum_lanes<Bits>(pos_inf));
  block.neg_inf += static_cast<std::uint64_t>(sum_lanes<Bits>(neg_inf));
  for (std::size_t i = whole; i < n; ++i) {
    const Bits raw = bits_at<F>(p, i);
    block.nan += (raw & F::kMagnitude) > F::kInf;
    block.pos_inf += raw == F::kInf;
    block.neg_inf += raw == kNegInf;
  }
}

template <class F>
void count_special(const std::byte* p, std::size_t n, Block& block) {
  using Bits = typename F::Bits;
  const std::size_t whole = n - n % kWidth<Bits>;
  Vec<Bits> zero = {};
  Vec<Bits> below_normal = {};
  Vec<Bits> saturated = {};
  for (std::size_t i = 0; i < whole; i += kWidth<Bits>) {
    const auto magnitude = load<Vec<Bits>>(p + i * sizeof(Bits)) & F::kMagnitude;
    zero -= magnitude == 0;
    below_normal -= magnitude < F::kMinNormal;
    saturated -= magnitude == F::kMaxFinite;
  }
  std::int64_t zeros = sum_lanes<Bits>(zero);
  std::int64_t below = sum_lanes<Bits>(below_normal);
  block.saturated += static_cast<std::uint64_t>(sum_lanes<Bits>(saturated));
  for (std::size_t i = whole; i < n; ++i) {
    const Bits magnitude = bits_at<F>(p, i) & F::kMagnitude;
    zeros += magnitude == 0;
    below += magnitude < F::kMinNormal;
    block.saturated += magnitude == F::kMaxFinite;
  }
  block.zero += static_cast<std::uint64_t>(zeros);
  block.subnormal += static_cast<std::uint64_t>(below - zeros);
}

template <class F>
std::int64_t find_bad(const std::byte* p, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    if (is_bad<F>(bits_at<F>(p, i))) return static_cast<std::int64_t>(i);
  }
  return -1;
}

template <class F, class Source, Level kLevel>
void reduce_floats(const std::byte* data, std::size_t n, bool expect_bad, Block& block) {
  clear_counts(block);
  bool bad = true;
  if constexpr (kLevel != Level::health) {
    bad = expect_bad || !add_moments<F, Source, false>(data, n, block);
    if (bad) add_moments<F, Source, true>(data, n, block);
    if constexpr (sizeof(typename F::Bits) == 8) rescale_moments<F, Source>(data, n, block);
  }
  if (!bad && kLevel != Level::full) return;
  for_each_piece<Source>(data, n, [&](const std::byte* p, std::size_t count, std::size_t first) {
    if constexpr (kLevel == Level::full) count_special<F>(p, count, block);
    if (!bad || !any_bad<F>(p, count)) return;
    count_bad<F>(p, count, block);
    if (kLevel == Level::full && block.first_bad < 0) {
      block.first_bad = static_cast<std::int64_t>(first) + find_bad<F>(p, count);
    }
  });
}
