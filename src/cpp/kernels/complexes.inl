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

// Registers of parts, of which those of an element lie side by side.
struct ComplexLanes {
  Vec<double> re;
  Vec<double> im;

  template <FloatFormat Part>
  static ComplexLanes at(const std::byte* p) {
    const auto first = Part::template values<0>(p);
    const auto last = Part::template values<0>(p + kWidth<double> * sizeof(typename Part::Bits));
    return {even_lanes(first, last), odd_lanes(first, last)};
  }
};

inline Vec<std::int64_t> is_nan(Vec<double> x) { return x != x; }

// For level health any finite number stands for a finite element.
template <FloatFormat Part, bool kHealth>
inline Vec<double> magnitudes(ComplexLanes x) {
  // Squares of narrower parts are accurate, and finite where the parts are.
  constexpr bool kMayLeaveRange = sizeof(typename Part::Bits) == 8;
  if constexpr (kHealth) {
    const auto difference = (x.re - x.re) + (x.im - x.im);
    if (!any_lane(difference != 0)) return difference;
  }
  const Vec<double> square = x.re * x.re + x.im * x.im;
  auto is_accurate = square < 0x1p1000;
  if constexpr (kMayLeaveRange) {
    const auto any_bit = ((Vec<std::int64_t>)x.re | (Vec<std::int64_t>)x.im) & Part::kMagnitude;
    is_accurate &= (square > 0x1p-900) | (any_bit == 0);
  }
  const Vec<double> root = square_root(square);
  if (!any_lane(~is_accurate)) return root;
  if constexpr (kMayLeaveRange) {
    const LaneArray<double> re(x.re), im(x.im);
    LaneArray<double> all(root);
    for (std::size_t k = 0; k < kWidth<double>; ++k) {
      all.lanes[k] = magnitude(re.lanes[k], im.lanes[k]);
    }
    return load<Vec<double>>(all.lanes);
  } else {
    const auto infinite = x.re - x.re == 0 ? x.im : x.re;
    const auto bad = is_nan(x.re) | is_nan(x.im) ? broadcast(__builtin_nan("")) : infinite;
    return is_accurate ? root : bad;
  }
}

template <FloatFormat Part, bool kHealth>
struct ComplexToMagnitude {
  static constexpr int kBits = 16 * sizeof(typename Part::Bits);
  static void decode(const std::byte* data, std::size_t n, std::byte* out) {
    constexpr std::size_t kStep = kWidth<double>;
    constexpr std::size_t kNbytes = kBits / 8;
    const auto convert = [](const std::byte* from, std::byte* to) {
      store(to, magnitudes<Part, kHealth>(ComplexLanes::at<Part>(from)));
    };
    std::size_t i = 0;
    for (; i + kStep <= n; i += kStep) {
      prefetch_ahead(data + i * kNbytes, kStep * kNbytes);
      convert(data + i * kNbytes, out + i * sizeof(double));
    }
    if (i == n) return;
    std::byte from[kStep * kNbytes] = {};
    std::byte to[kVectorBytes];
    std::memcpy(from, data + i * kNbytes, (n - i) * kNbytes);
    convert(from, to);
    std::memcpy(out + i * sizeof(double), to, (n - i) * sizeof(double));
  }
};

// How many elements have a part for which `flags` is set, in lanes of which kPerElement tell of one
// element.
template <FloatFormat Part>
struct EitherCounts {
  using Flags = Vec<typename Part::Bits>;
  static constexpr bool kFit = sizeof(typename Part::Bits) < 8;
  static constexpr std::int64_t kPerElement = kFit ? 1 : 2;
  using Whole = std::conditional_t<sizeof(typename Part::Bits) == 2, std::int32_t, std::int64_t>;

  Vec<Whole> counts = {};

  void add(Flags flags) {
    if constexpr (kFit) {
      counts -= (Vec<Whole>)flags != 0;
    } else {
      const auto lanes = (Vec<double>)flags;
      counts -= (Flags)even_lanes(lanes, lanes) | (Flags)odd_lanes(lanes, lanes);
    }
  }
  std::uint64_t total() const {
    return static_cast<std::uint64_t>(sum_lanes<Whole>(counts) / kPerElement);
  }
};

// A complex number is subnormal or saturated if one of its parts is.
template <FloatFormat Part>
void count_special_complexes(const std::byte* data, std::size_t n, Block& block) {
  EitherCounts<Part> subnormal;
  EitherCounts<Part> saturated;
  for_each_register<Part>(data, 2 * n, 0, [&](auto bits, std::size_t) {
    const auto magnitude = bits & Part::kMagnitude;
    subnormal.add((magnitude > 0) & (magnitude < Part::kMinNormal));
    saturated.add(magnitude == Part::kMaxFinite);
  });
  block.subnormal = subnormal.total();
  block.saturated = saturated.total();
}

template <FloatFormat Part, Level kLevel>
void reduce_complexes(const std::byte* data, std::size_t n, Block& block) {
  using Source = Decoded<Float64, ComplexToMagnitude<Part, kLevel == Level::health>>;
  if constexpr (kLevel == Level::health) {
    check_floats<Float64, Source>(data, n, block);
  } else {
    reduce_floats<Float64, Source, kLevel>(data, n, block);
  }
  if constexpr (kLevel == Level::full) count_special_complexes<Part>(data, n, block);
}
