// Blocks of integers. Sums are exact, and so are the sums of squares up to 16 bits; wider squares
// are float64 as for floats. Included inside the tier's anonymous namespace by tier.inl.
//
// Unsigned types are read with their top bit flipped, which makes them signed and 2^(bits-1)
// smaller: one signed kernel serves both, and the sums are shifted back at the end.

template <class T>
using Signed = std::make_signed_t<T>;

template <class T>
inline constexpr Signed<T> kFlip =
    std::is_signed_v<T> ? Signed<T>{0} : std::numeric_limits<Signed<T>>::min();

// A flipped element back as its value.
template <class T>
inline T unflip(Signed<T> x) {
  return static_cast<T>(x ^ kFlip<T>);
}

template <class T>
inline void set_extremes(Block& block, Signed<T> max, Signed<T> min) {
  if constexpr (std::is_signed_v<T>) {
    block.max.i64 = max;
    block.min.i64 = min;
  } else {
    block.max.u64 = unflip<T>(max);
    block.min.u64 = unflip<T>(min);
  }
}

template <class T>
inline T extreme(Number number) {
  if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(number.i64);
  } else {
    return static_cast<T>(number.u64);
  }
}

template <class T>
struct Extremes {
  Vec<Signed<T>> max = broadcast(std::numeric_limits<Signed<T>>::min());
  Vec<Signed<T>> min = broadcast(std::numeric_limits<Signed<T>>::max());

  void add(Vec<Signed<T>> x) {
    max = x > max ? x : max;
    min = x < min ? x : min;
  }
};

template <class T>
inline void add_one(Signed<T> x, Signed<T>& max, Signed<T>& min) {
  max = x > max ? x : max;
  min = x < min ? x : min;
}

// Exact integer totals of one block, still flipped.
struct Totals {
  std::int64_t sum = 0;
  std::int64_t sum_squares = 0;
};

// 8 and 16 bits: pairs of products in 32-bit lanes.
template <class T>
void add_integers(const std::byte* p, std::size_t n, Totals& totals, Extremes<T>& extremes) {
  using S = Signed<T>;
  const auto ones = broadcast(std::int16_t{1});
  Vec<std::int32_t> sum = {};
  Vec<std::uint64_t> squares = {};
  const auto split = [](Vec<std::int32_t> pairs) {
    const auto wide = (Vec<std::uint64_t>)pairs;
    return (wide & 0xffffffff) + (wide >> 32);
  };
  Extremes<T> local;
  const std::size_t whole = n - n % kWidth<S>;
  if constexpr (sizeof(S) == 1) {
    // Squares of a block's lane stay below 2^31: they need not be split at every step.
    Vec<std::int32_t> narrow = {};
    for (std::size_t i = 0; i < whole; i += kWidth<S>) {
      prefetch_ahead(p + i, kVectorBytes);
      local.add(load<Vec<S>>(p + i) ^ kFlip<T>);
#pragma GCC unroll 2
      for (std::size_t half = 0; half < 2; ++half) {
        const auto bytes = load<Half<S>>(p + i + half * (kVectorBytes / 2)) ^ kFlip<T>;
        const auto x = widen(bytes);
        sum += multiply_add(x, ones);
        narrow += multiply_add(x, x);
      }
    }
    squares = split(narrow);
  } else {
    for (std::size_t i = 0; i < whole; i += kWidth<S>) {
      prefetch_ahead(p + i * sizeof(S), kVectorBytes);
      const auto x = load<Vec<S>>(p + i * sizeof(S)) ^ kFlip<T>;
      local.add(x);
      sum += multiply_add(x, ones);
      squares += split(multiply_add(x, x));
    }
  }
  extremes = local;
  totals.sum += sum_lanes<std::int32_t>(sum);
  totals.sum_squares += sum_lanes<std::uint64_t>(squares);
}

// 32 bits: exact as float64, sixteen lanes of squares as for floats.
template <class T>
  requires(sizeof(T) == 4)
void add_wide(const std::byte* p, std::size_t n, Block& block, Extremes<T>& extremes) {
  constexpr std::size_t kVectors = kLanes / kWidth<double>;
  constexpr double kShift = std::is_signed_v<T> ? 0.0 : 0x1p31;
  Vec<double> sum[kVectors] = {};
  Vec<double> squares[kVectors] = {};
  Extremes<T> local;
  for (std::size_t i = 0; i + kLanes <= n; i += kLanes) {
    prefetch_ahead(p + i * sizeof(T), kLanes * sizeof(T));
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kLanes / kWidth<T>; ++v) {
      local.add(load<Vec<Signed<T>>>(p + i * sizeof(T) + v * kVectorBytes) ^ kFlip<T>);
    }
#pragma GCC unroll 8
    for (std::size_t k = 0; k < kVectors; ++k) {
      const auto half = load<Half<Signed<T>>>(p + i * sizeof(T) + k * (kVectorBytes / 2));
      const Vec<double> x = widen(half ^ kFlip<T>) + kShift;
      sum[k] += x;
      squares[k] += x * x;
    }
  }
  extremes = local;
  store_lanes(sum, block.sum);
  store_lanes(squares, block.sum_squares);
}

// 64 bits: the sum in two exact halves, squares of the elements rounded to float64.
template <class T>
  requires(sizeof(T) == 8)
void add_wide(const std::byte* p, std::size_t n, Block& block, Extremes<T>& extremes) {
  constexpr std::size_t kVectors = kLanes / kWidth<double>;
  constexpr std::uint64_t kTop = std::uint64_t{1} << 63;
  // Offset by 2^63, signed elements are unsigned; the offset leaves the total at the end.
  constexpr std::uint64_t kOffset = std::is_signed_v<T> ? kTop : 0;
  Vec<std::uint64_t> low = {};
  Vec<std::uint64_t> high = {};
  Vec<double> squares[kVectors] = {};
  Extremes<T> local;
  for (std::size_t i = 0; i + kLanes <= n; i += kLanes) {
    prefetch_ahead(p + i * sizeof(T), kLanes * sizeof(T));
#pragma GCC unroll 8
    for (std::size_t k = 0; k < kVectors; ++k) {
      const auto x = load<Vec<std::uint64_t>>(p + i * sizeof(T) + k * kVectorBytes);
      local.add((Vec<std::int64_t>)x ^ kFlip<T>);
      const auto offset = x ^ kOffset;
      low += offset & 0xffffffff;
      high += offset >> 32;
      const auto value = to_float64<std::is_signed_v<T>>(x);
      squares[k] += value * value;
    }
  }
  extremes = local;
  clear_moments(block);
  store_lanes(squares, block.sum_squares);
  // Both halves and the offset are below 2^53 units: exact.
  const auto vectorised = static_cast<double>(n - n % kLanes);
  block.sum[0] = static_cast<double>(sum_lanes<std::uint64_t>(low));
  block.sum[1] = static_cast<double>(sum_lanes<std::uint64_t>(high)) * 0x1p32;
  block.sum[2] = std::is_signed_v<T> ? -vectorised * 0x1p63 : 0.0;
}

template <class T>
void add_integer_moments(const std::byte* data, std::size_t n, Block& block) {
  using S = Signed<T>;
  Extremes<T> extremes;
  S max = std::numeric_limits<S>::min();
  S min = std::numeric_limits<S>::max();
  const auto element = [&](std::size_t i) {
    return static_cast<S>(load<S>(data + i * sizeof(T)) ^ kFlip<T>);
  };
  block.sum_exponent = block.squares_exponent = 0;
  if constexpr (sizeof(T) <= 2) {
    Totals totals;
    add_integers<T>(data, n, totals, extremes);
    for (std::size_t i = n - n % kWidth<S>; i < n; ++i) {
      const S x = element(i);
      add_one<T>(x, max, min);
      totals.sum += x;
      totals.sum_squares += std::int64_t{x} * x;
    }
    // sum (x + f)^2 = sum x^2 + 2 f sum x + n f^2, all below 2^53.
    const std::int64_t f = -std::int64_t{kFlip<T>};
    const auto count = static_cast<std::int64_t>(n);
    clear_moments(block);
    block.sum[0] = static_cast<double>(totals.sum + f * count);
    block.sum_squares[0] =
        static_cast<double>(totals.sum_squares + 2 * f * totals.sum + f * f * count);
  } else {
    add_wide<T>(data, n, block, extremes);
    for (std::size_t i = n - n % kLanes; i < n; ++i) {
      const S x = element(i);
      add_one<T>(x, max, min);
      const auto value = static_cast<double>(unflip<T>(x));
      const std::size_t lane = i % kLanes;
      block.sum_squares[lane] += value * value;
      if constexpr (sizeof(T) == 4) {
        block.sum[lane] += value;
      } else {
        const auto bits = static_cast<std::uint64_t>(unflip<T>(x));
        block.sum[3] += static_cast<double>(bits & 0xffffffff);
        block.sum[4] += static_cast<double>(unflip<T>(x) >> 32) * 0x1p32;
      }
    }
  }
  const S vector_max = max_lane<S>(extremes.max);
  const S vector_min = min_lane<S>(extremes.min);
  set_extremes<T>(block, vector_max > max ? vector_max : max, vector_min < min ? vector_min : min);
}

// Counts elements for which `is` holds, in lanes as narrow as the elements.
template <class T, class Is>
std::uint64_t count_integers(const std::byte* p, std::size_t n, Is is) {
  constexpr std::size_t kFlush = 127 * kWidth<T>;  // before a lane of int8 overflows
  std::uint64_t total = 0;
  std::size_t i = 0;
  while (i + kWidth<T> <= n) {
    const std::size_t end = n - i < kFlush ? n - (n - i) % kWidth<T> : i + kFlush;
    Vec<T> hits = {};
    for (; i < end; i += kWidth<T>) {
      prefetch_ahead(p + i * sizeof(T), kVectorBytes);
      hits -= (Vec<T>)is(load<Vec<T>>(p + i * sizeof(T)));
    }
    total += static_cast<std::uint64_t>(sum_lanes<T>(hits));
  }
  for (; i < n; ++i) total += is(load<T>(p + i * sizeof(T))) ? 1 : 0;
  return total;
}

// Of magnitudes less kLess, the smallest; less 1, that of 0 is the largest of all. Looks no further
// than it has found a 0, below which there is nothing.
template <class T, int kLess>
std::make_unsigned_t<T> least_magnitude(const std::byte* p, std::size_t n) {
  using S = Signed<T>;
  using Word = std::make_unsigned_t<T>;
  constexpr std::size_t kLook = 64 * kWidth<S>;
  // `sign` has ones where an element is negative.
  const auto magnitude = [](auto bits, auto sign) { return (bits ^ sign) - sign - kLess; };
  Word smallest = std::numeric_limits<Word>::max();
  std::size_t i = 0;
  while (i + kWidth<S> <= n && smallest != 0) {
    const std::size_t end = n - i < kLook ? n - (n - i) % kWidth<S> : i + kLook;
    auto least = broadcast(smallest);
    for (; i < end; i += kWidth<S>) {
      const auto x = load<Vec<S>>(p + i * sizeof(S));
      const auto sign = std::is_signed_v<T> ? x >> (8 * sizeof(S) - 1) : Vec<S>{};
      const auto found = magnitude((Vec<Word>)x, (Vec<Word>)sign);
      least = found < least ? found : least;
    }
    smallest = min_lane<Word>(least);
  }
  for (; i < n && smallest != 0; ++i) {
    const T x = load<T>(p + i * sizeof(T));
    const std::uint64_t sign = x < 0 ? ~std::uint64_t{0} : 0;
    const auto found = static_cast<Word>(magnitude(static_cast<std::uint64_t>(x), sign));
    smallest = found < smallest ? found : smallest;
  }
  return smallest;
}

// Most tensors of wide integers have no zero.
template <class T>
void find_zeros(const std::byte* data, std::size_t n, Block& block) {
  using Word = std::make_unsigned_t<T>;
  Word smallest = least_magnitude<T, 0>(data, n);
  if (smallest == 0) {
    block.zero = count_integers<T>(data, n, [](auto x) { return x == 0; });
    smallest = static_cast<Word>(least_magnitude<T, 1>(data, n) + 1);
  }
  block.min_abs = static_cast<double>(smallest);
}

// The limits of an encoding: narrower than those of T where elements were unpacked.
template <std::integral T>
struct IntegerRange {
  T min;
  T max;
};

template <std::integral T, IntegerRange<T> kRange, Level kLevel>
void reduce_integers(const std::byte* data, std::size_t n, Block& block) {
  clear_counts(block);
  add_integer_moments<T>(data, n, block);
  if constexpr (kLevel == Level::full) {
    find_zeros<T>(data, n, block);
    // Most tensors have none of these.
    if (extreme<T>(block.max) == kRange.max) {
      block.saturated = count_integers<T>(data, n, [](auto x) { return x == kRange.max; });
    }
    if (kRange.min != 0 && extreme<T>(block.min) == kRange.min) {
      block.saturated += count_integers<T>(data, n, [](auto x) { return x == kRange.min; });
    }
  }
}

template <std::integral T, Decoder D, IntegerRange<T> kRange, Level kLevel>
void reduce_packed_integers(const std::byte* data, std::size_t n, Block& block) {
  alignas(64) std::byte unpacked[kMaxBlockElements];
  D::decode(data, n, unpacked);
  reduce_integers<T, kRange, kLevel>(unpacked, n, block);
}

template <Level kLevel>
void reduce_booleans(const std::byte* data, std::size_t n, Block& block) {
  clear_counts(block);
  clear_moments(block);
  const std::uint64_t falses = count_integers<std::int8_t>(data, n, [](auto x) { return x == 0; });
  block.sum[0] = block.sum_squares[0] = static_cast<double>(n - falses);
  block.max.u64 = falses < n ? 1 : 0;
  block.min.u64 = falses > 0 ? 0 : 1;
  if constexpr (kLevel == Level::full) {
    block.zero = falses;
    block.min_abs = falses < n ? 1 : 0;
  }
}

// Level health of 8-bit exponents, whose one NaN is all ones.
inline void check_exponents(const std::byte* data, std::size_t n, Block& block) {
  clear_counts(block);
  block.nan = count_integers<std::int8_t>(data, n, [](auto x) { return x == -1; });
}
