// Pairs of elements as float64, a piece of both sides at a time. Included inside the tier's
// anonymous namespace by tier.inl.

inline constexpr std::size_t kPairVectors = kPairLanes / kWidth<double>;

// One piece of both sides. error and product are there where x and y do not tell them.
struct PairPiece {
  alignas(64) double x[kPieceElements];
  alignas(64) double y[kPieceElements];
  alignas(64) double error[kPieceElements];
  alignas(64) double product[kPieceElements];
};

// Where |x - y| and x * y come from.
enum class Terms {
  exact,    // from x and y, of so few significant bits that products are exact in float64
  rounded,  // from x and y
  given,    // from the piece
};

constexpr Terms terms_of(Element a, Element b) {
  const auto is_wide = [](Element e) {  // more than 26 significant bits
    return e == Element::float64 || e == Element::int32 || e == Element::uint32 ||
           e == Element::int64 || e == Element::uint64;
  };
  const bool both_64 = a == b && (a == Element::int64 || a == Element::uint64);
  if (is_complex(a) || is_complex(b) || both_64) return Terms::given;
  return is_wide(a) || is_wide(b) ? Terms::rounded : Terms::exact;
}

// Powers of two that keep what leaves float64's range within it.
struct PairScale {
  double x = 1;
  double y = 1;
  double error = 1;
};

inline const std::byte* element_at(Element element, const std::byte* data, std::size_t i) {
  return data + i / 8 * static_cast<std::size_t>(element_bits(element));
}

// Real and imaginary parts in turns.
inline void parts_to_float64(Element element, const std::byte* data, std::size_t n, double* out) {
  switch (element) {
    case Element::complex32:
      return float16_to_float64(data, 2 * n, out);
    case Element::complex64:
      return values_to_float64<float>(data, 2 * n, out);
    case Element::complex128:
      return values_to_float64<double>(data, 2 * n, out);
    default:
      elements_to_float64(element, data, n, out);
      for (std::size_t i = n; i-- > 0;) {
        out[2 * i] = out[i];
        out[2 * i + 1] = 0;
      }
  }
}

inline void fill_complex(const PairOperands& operands, std::size_t first, std::size_t n,
                         const PairScale& scale, PairPiece& piece) {
  double a[2 * kPieceElements];
  double b[2 * kPieceElements];
  parts_to_float64(operands.a, element_at(operands.a, operands.data_a, first), n, a);
  parts_to_float64(operands.b, element_at(operands.b, operands.data_b, first), n, b);
  // Large parts are scaled before they are subtracted, small differences after.
  const double before = scale.error < 1 ? scale.error : 1;
  const double after = scale.error < 1 ? 1 : scale.error;
  for (std::size_t i = 0; i < n; ++i) {
    const double* x = a + 2 * i;
    const double* y = b + 2 * i;
    piece.x[i] = magnitude(x[0] * scale.x, x[1] * scale.x);
    piece.y[i] = magnitude(y[0] * scale.y, y[1] * scale.y);
    const bool same = x[0] == y[0] && x[1] == y[1];
    if (!is_finite(piece.x[i]) && piece.x[i] == piece.y[i] && !same) piece.y[i] = -piece.y[i];
    piece.error[i] =
        magnitude((x[0] * before - y[0] * before) * after, (x[1] * before - y[1] * before) * after);
    piece.product[i] = x[0] * scale.x * (y[0] * scale.y) + x[1] * scale.x * (y[1] * scale.y);
  }
}

template <class T>
void fill_integer_errors(const std::byte* a, const std::byte* b, std::size_t n, PairPiece& piece) {
  for (std::size_t i = 0; i < n; ++i) {
    const T x = load<T>(a + i * sizeof(T));
    const T y = load<T>(b + i * sizeof(T));
    const auto up = static_cast<std::uint64_t>(x) - static_cast<std::uint64_t>(y);
    piece.error[i] = static_cast<double>(x > y ? up : 0 - up);
    piece.product[i] = piece.x[i] * piece.y[i];
  }
}

// n elements from `first`, a multiple of kPieceElements, on. error and product only if the terms
// are given.
inline void fill(const PairOperands& operands, std::size_t first, std::size_t n, PairPiece& piece) {
  const std::byte* a = element_at(operands.a, operands.data_a, first);
  const std::byte* b = element_at(operands.b, operands.data_b, first);
  if (is_complex(operands.a) || is_complex(operands.b)) {
    fill_complex(operands, first, n, {}, piece);
    return;
  }
  elements_to_float64(operands.a, a, n, piece.x);
  elements_to_float64(operands.b, b, n, piece.y);
  if (operands.a != operands.b) return;
  if (operands.a == Element::int64) fill_integer_errors<std::int64_t>(a, b, n, piece);
  if (operands.a == Element::uint64) fill_integer_errors<std::uint64_t>(a, b, n, piece);
}

// As fill(), with error and product in any case, and all of it scaled.
inline void fill_scaled(const PairOperands& operands, std::size_t first, std::size_t n,
                        const PairScale& scale, PairPiece& piece) {
  if (is_complex(operands.a) || is_complex(operands.b)) {
    fill_complex(operands, first, n, scale, piece);
    return;
  }
  fill(operands, first, n, piece);
  const bool given = terms_of(operands.a, operands.b) == Terms::given;
  const double before = scale.error < 1 ? scale.error : 1;
  const double after = scale.error < 1 ? 1 : scale.error;
  for (std::size_t i = 0; i < n; ++i) {
    const double error = piece.x[i] * before - piece.y[i] * before;
    if (!given) piece.error[i] = (error < 0 ? -error : error) * after;
    piece.x[i] *= scale.x;
    piece.y[i] *= scale.y;
    piece.product[i] = piece.x[i] * piece.y[i];
  }
}

inline PairScale scale_of(const PairBlock& block) {
  return {power_of_two(-block.a.exponent), power_of_two(-block.b.exponent),
          power_of_two(-block.error_exponent)};
}

using PairMask = Vec<std::int64_t>;

inline Vec<double> absolute(Vec<double> x) {
  return (Vec<double>)((PairMask)x & Float64::kMagnitude);
}

inline PairMask is_bad(Vec<double> x) { return ~(absolute(x) < __builtin_inf()); }

// Of pairs with a NaN or Inf.
inline PairMask is_same_bad(Vec<double> x, Vec<double> y) {
  return (x == y) | ((x != x) & (y != y));
}

// Fills lanes up that no element has: with NaN, to be set aside. Returns the number of pairs then.
inline std::size_t pad(PairPiece& piece, std::size_t n) {
  const std::size_t padded = (n + kPairLanes - 1) / kPairLanes * kPairLanes;
  for (std::size_t i = n; i < padded; ++i) {
    piece.x[i] = piece.y[i] = __builtin_nan("");
    piece.error[i] = piece.product[i] = 0;
  }
  return padded;
}

// `visit` gets each piece, padded, the number of its pairs with and without the padding, and the
// index of the first.
template <class Fill, class Visit>
inline void for_each_pair_piece(std::size_t n, Fill fill_piece, Visit visit) {
  PairPiece piece;
  for (std::size_t first = 0; first < n; first += kPieceElements) {
    const std::size_t count = n - first < kPieceElements ? n - first : kPieceElements;
    fill_piece(first, count, piece);
    visit(piece, pad(piece, count), count, first);
  }
}
