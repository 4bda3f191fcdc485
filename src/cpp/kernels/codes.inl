// Pairs of one floating-point type by their codes: how far the elements of a pair are apart in
// units of the last place, which is how many values of the type lie from one to the other, and the
// extremes. Included inside the tier's anonymous namespace by tier.inl.
//
// A code is a sign bit and a magnitude that grows with the value; magnitudes from kInf on are NaN
// and Inf. Zeros of both signs are one value.

// Negative codes by their magnitude, so that codes order as the values do, without a gap at zero.
template <class Code>
inline Code order_of(Code magnitude, Code sign) {
  return (magnitude ^ sign) - sign;
}

template <bool kBad, class V, class Mask>
inline void keep_extremes(V& max, V& min, V x, Mask finite) {
  if constexpr (kBad) {
    add_masked(x, finite, max, min);
  } else {
    max = x > max ? x : max;
    min = x < min ? x : min;
  }
}

// Of pairs that are finite on both sides.
template <class Bits, Bits kInf>
struct CodePairs {
  using Word = std::make_unsigned_t<Bits>;
  static constexpr Bits kMagnitude = std::numeric_limits<Bits>::max();
  static constexpr int kSignShift = 8 * sizeof(Bits) - 1;

  Vec<Word> distance_max = {};
  Vec<Bits> max_x = broadcast(std::numeric_limits<Bits>::min());
  Vec<Bits> min_x = broadcast(std::numeric_limits<Bits>::max());
  Vec<Bits> max_y = broadcast(std::numeric_limits<Bits>::min());
  Vec<Bits> min_y = broadcast(std::numeric_limits<Bits>::max());

  // Adds a register of pairs. Without kBad nothing is left out, and any_bad() tells whether
  // something should have been: NaN and Inf order beyond the others.
  template <bool kBad>
  void add(const std::byte* a, const std::byte* b) {
    const auto x = load<Vec<Bits>>(a);
    const auto y = load<Vec<Bits>>(b);
    const auto magnitude_x = x & kMagnitude;
    const auto magnitude_y = y & kMagnitude;
    const auto order_x = order_of<Vec<Bits>>(magnitude_x, x >> kSignShift);
    const auto order_y = order_of<Vec<Bits>>(magnitude_y, y >> kSignShift);
    const auto high = order_x > order_y ? order_x : order_y;
    const auto low = order_x > order_y ? order_y : order_x;
    auto distance = (Vec<Word>)high - (Vec<Word>)low;
    const auto finite = (magnitude_x < kInf) & (magnitude_y < kInf);
    if constexpr (kBad) distance &= (Vec<Word>)finite;
    distance_max = distance > distance_max ? distance : distance_max;
    keep_extremes<kBad>(max_x, min_x, order_x, finite);
    keep_extremes<kBad>(max_y, min_y, order_y, finite);
  }

  // Adds n pairs.
  void add(const std::byte* a, const std::byte* b, std::size_t n) {
    constexpr std::size_t kStep = kWidth<Bits>;
    std::size_t i = 0;
    for (; i + kStep <= n; i += kStep) add<true>(a + i * sizeof(Bits), b + i * sizeof(Bits));
    if (i == n) return;
    // What no pair has is a NaN.
    alignas(kVectorBytes) std::byte last_a[kVectorBytes];
    alignas(kVectorBytes) std::byte last_b[kVectorBytes];
    store(last_a, broadcast(kMagnitude));
    store(last_b, broadcast(kMagnitude));
    std::memcpy(last_a, a + i * sizeof(Bits), (n - i) * sizeof(Bits));
    std::memcpy(last_b, b + i * sizeof(Bits), (n - i) * sizeof(Bits));
    add<true>(last_a, last_b);
  }

  bool any_bad() const {
    return any_lane((max_x >= kInf) | (min_x <= -kInf) | (max_y >= kInf) | (min_y <= -kInf));
  }

  std::uint64_t ulp_max() const { return max_lane<Word>(distance_max); }

  static Bits code_of(Bits order) {
    return static_cast<Bits>(order < 0 ? ~kMagnitude | -order : order);
  }
};

template <class T>
std::uint64_t integer_distance(const std::byte* a, const std::byte* b, std::size_t n) {
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const T x = load<T>(a + i * sizeof(T));
    const T y = load<T>(b + i * sizeof(T));
    const auto up = static_cast<std::uint64_t>(x) - static_cast<std::uint64_t>(y);
    const std::uint64_t distance = x > y ? up : 0 - up;
    most = distance > most ? distance : most;
  }
  return most;
}

// Narrow codes that D makes 16-bit ones of, in the same order.
template <Decoder D, std::int16_t kInf>
std::uint64_t narrow_ulp_max(const std::byte* a, const std::byte* b, std::size_t n) {
  alignas(64) std::byte codes_a[2 * kPieceElements];
  alignas(64) std::byte codes_b[2 * kPieceElements];
  CodePairs<std::int16_t, kInf> codes;
  for (std::size_t first = 0; first < n; first += kPieceElements) {
    const std::size_t count = n - first < kPieceElements ? n - first : kPieceElements;
    D::decode(a + first * D::kBits / 8, count, codes_a);
    D::decode(b + first * D::kBits / 8, count, codes_b);
    codes.add(codes_a, codes_b, count);
  }
  return codes.ulp_max();
}

// A sign bit and seven bits of magnitude.
struct SignedByteCodes {
  static constexpr int kBits = 8;
  static void decode(const std::byte* data, std::size_t n, std::byte* out) {
    decode_bytes(data, n, out, [](auto code) { return (code & 0x80) << 8 | (code & 0x7f); });
  }
};

struct UnsignedByteCodes {
  static constexpr int kBits = 8;
  static void decode(const std::byte* data, std::size_t n, std::byte* out) {
    decode_bytes(data, n, out, [](auto code) { return code; });
  }
};

constexpr int signed_nibble_code(int code) { return (code & 8) << 12 | (code & 7); }

using SignedNibbleCodes = PackedByTable<Packing{.bits = 4}, std::uint16_t, signed_nibble_code>;

// HiFloat8's codes do not grow with the value: how many magnitudes are smaller does.
constexpr std::uint16_t hifloat8_rank(int code) {
  const int sign = (code & 0x80) << 8;
  const int magnitude = hifloat8_to_float16(code & 0x7f);
  if (code == 0x80 || magnitude == 0x7c00) return 0x7fff;
  int rank = 0;
  for (int other = 0; other < 0x80; ++other) {
    rank += hifloat8_to_float16(other) < magnitude ? 1 : 0;
  }
  return static_cast<std::uint16_t>(sign | rank);
}

struct Hifloat8Ranks {
  static constexpr int kBits = 8;
  static constexpr ByteTable<std::uint16_t, decltype(&hifloat8_rank)> kTable{hifloat8_rank};
  static void decode(const std::byte* data, std::size_t n, std::byte* out) {
    decode_by_table<std::uint16_t, kTable>(data, n, out);
  }
};

// The largest distance of finite pairs of one type, in units of the last place, if their codes do
// not tell it as they lie; of integers the largest |x - y|. 0 for complex types, and for integers
// whose |x - y| float64 holds.
inline std::uint64_t other_ulp_max(const PairOperands& operands, std::size_t n) {
  const std::byte* a = operands.data_a;
  const std::byte* b = operands.data_b;
  switch (operands.a) {
    case Element::int64:
      return integer_distance<std::int64_t>(a, b, n);
    case Element::uint64:
      return integer_distance<std::uint64_t>(a, b, n);
    case Element::float8_e4m3fn:
      return narrow_ulp_max<SignedByteCodes, 0x7f>(a, b, n);
    case Element::float8_e5m2:
      return narrow_ulp_max<SignedByteCodes, 0x7c>(a, b, n);
    case Element::float8_e8m0fnu:
      return narrow_ulp_max<UnsignedByteCodes, 0xff>(a, b, n);
    case Element::hifloat8:
      return narrow_ulp_max<Hifloat8Ranks, 0x7fff>(a, b, n);
    case Element::float4_e2m1fn:
    case Element::float4_e1m2:
      return narrow_ulp_max<SignedNibbleCodes, 0x7fff>(a, b, n);
    default:
      return 0;
  }
}
