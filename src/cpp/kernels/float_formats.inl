// How the codes of floating-point elements are read, and which of them are NaN and Inf. Included
// inside the tier's anonymous namespace by tier.inl.

// Registers of float64 that hold a step of kLanes elements.
inline constexpr std::size_t kSumVectors = kLanes / kWidth<double>;

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

// A filler that is in no extreme and no count but one.
template <FloatFormat F>
inline constexpr typename F::Bits kNan = F::kInf + 1;
