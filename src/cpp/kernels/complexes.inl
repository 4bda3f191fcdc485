// Blocks of complex elements: their magnitudes, as float64, go through the float64 kernel. An
// element with a NaN part is NaN, one with an infinite part +Inf or -Inf by that part's sign (real
// part first). Included inside the tier's anonymous namespace by tier.inl.

template <FloatFormat Part>
inline double part_at(const std::byte* data, std::size_t i) {
  const auto bits = load<typename Part::Bits>(data + i * sizeof(typename Part::Bits));
  if (!is_bad<Part>(bits)) return Part::value(bits);
  if ((bits & Part::kMagnitude) > Part::kInf) return __builtin_nan("");
  return bits < 0 ? -__builtin_inf() : __builtin_inf();
}

inline bool is_finite(double x) { return x - x == 0; }

inline double magnitude(double re, double im) {
  if (!is_finite(re) || !is_finite(im)) {
    if (re != re || im != im) return __builtin_nan("");
    return is_finite(re) ? im : re;
  }
  const double square = re * re + im * im;
  if (square > 0x1p-900 && square < 0x1p1000) return __builtin_sqrt(square);
  if (re == 0 && im == 0) return 0;
  // Only float64 parts get here: out of the range in which squares are accurate.
  const double scale = square > 1 ? 0x1p-600 : 0x1p600;
  const double a = re * scale;
  const double b = im * scale;
  const double result = __builtin_sqrt(a * a + b * b) / scale;
  // Of finite parts it is never counted as infinite, even if it does not fit.
  return is_finite(result) ? result : std::numeric_limits<double>::max();
}

template <FloatFormat Part>
struct ComplexToMagnitude {
  static constexpr int kBits = 16 * sizeof(typename Part::Bits);
  static void decode(const std::byte* data, std::size_t n, std::byte* out) {
    for (std::size_t i = 0; i < n; ++i) {
      store(out + i * 8, magnitude(part_at<Part>(data, 2 * i), part_at<Part>(data, 2 * i + 1)));
    }
  }
};

template <FloatFormat Part, Level kLevel>
void reduce_complexes(const std::byte* data, std::size_t n, Block& block) {
  using Source = Decoded<Float64, ComplexToMagnitude<Part>>;
  if constexpr (kLevel == Level::health) {
    check_floats<Float64, Source>(data, n, block);
  } else {
    reduce_floats<Float64, Source, kLevel>(data, n, block);
  }
  if constexpr (kLevel == Level::full) {
    // A complex number is subnormal or saturated if one of its parts is.
    block.subnormal = block.saturated = 0;
    for (std::size_t i = 0; i < n; ++i) {
      bool subnormal = false;
      bool saturated = false;
      for (std::size_t part = 2 * i; part < 2 * i + 2; ++part) {
        const auto bits = bits_at<Part>(data, part) & Part::kMagnitude;
        subnormal |= bits != 0 && bits < Part::kMinNormal;
        saturated |= bits == Part::kMaxFinite;
      }
      block.subnormal += subnormal;
      block.saturated += saturated;
    }
  }
}
