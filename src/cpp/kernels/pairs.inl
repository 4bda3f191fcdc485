// Blocks of pairs of elements. Both sides become float64, a piece at a time, and one loop adds up
// everything. Included inside the tier's anonymous namespace by tier.inl.

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

using LaneSums = Vec<double>[kPairVectors];

struct PairSums {
  LaneSums max_x;
  LaneSums min_x;
  LaneSums max_y;
  LaneSums min_y;
  LaneSums x = {};
  LaneSums y = {};
  LaneSums squares_x = {};
  LaneSums squares_y = {};
  LaneSums products = {};
  LaneSums error = {};
  LaneSums error_squares = {};
  LaneSums error_max = {};
  LaneSums relative = {};
  LaneSums relative_max = {};
  Vec<std::int64_t> mismatched[kPairVectors] = {};

  PairSums() {
    for (std::size_t k = 0; k < kPairVectors; ++k) {
      max_x[k] = max_y[k] = broadcast(-__builtin_inf());
      min_x[k] = min_y[k] = broadcast(__builtin_inf());
    }
  }
};

struct BadPairs {
  Vec<std::int64_t> only_a = {};
  Vec<std::int64_t> only_b = {};
  Vec<std::int64_t> both = {};
  Vec<std::int64_t> mismatched = {};

  // Counts pairs [begin, end) with a NaN or Inf and puts other numbers in their place, which do not
  // show in sums if both are 0. The extremes are those of the pairs that stay.
  template <Terms kTerms>
  void set_aside(PairPiece& piece, std::size_t begin, std::size_t end, double x_instead,
                 double y_instead, PairSums& sums) {
    for (std::size_t i = begin; i < end; i += kWidth<double>) {
      const std::size_t k = i / kWidth<double> % kPairVectors;
      const auto x = load<Vec<double>>(piece.x + i);
      const auto y = load<Vec<double>>(piece.y + i);
      const PairMask bad_x = is_bad(x);
      const PairMask bad_y = is_bad(y);
      const PairMask bad = bad_x | bad_y;
      only_a -= bad_x & ~bad_y;
      only_b -= bad_y & ~bad_x;
      both -= bad_x & bad_y;
      mismatched -= bad & ~is_same_bad(x, y);
      sums.max_x[k] = larger(bad ? sums.max_x[k] : x, sums.max_x[k]);
      sums.min_x[k] = smaller(bad ? sums.min_x[k] : x, sums.min_x[k]);
      sums.max_y[k] = larger(bad ? sums.max_y[k] : y, sums.max_y[k]);
      sums.min_y[k] = smaller(bad ? sums.min_y[k] : y, sums.min_y[k]);
      store(piece.x + i, bad ? broadcast(x_instead) : x);
      store(piece.y + i, bad ? broadcast(y_instead) : y);
      if constexpr (kTerms == Terms::given) {
        const Vec<double> zero = {};
        store(piece.error + i, bad ? zero : load<Vec<double>>(piece.error + i));
        store(piece.product + i, bad ? zero : load<Vec<double>>(piece.product + i));
      }
    }
  }
};

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

template <Terms kTerms>
inline Vec<double> error_at(const PairPiece* piece, std::size_t i, Vec<double> x, Vec<double> y) {
  if constexpr (kTerms == Terms::given) {
    return load<Vec<double>>(piece->error + i);
  } else {
    return absolute(x - y);
  }
}

template <Terms kTerms>
inline void add_product(Vec<double>& sum, Vec<double> x, Vec<double> y) {
  if constexpr (kTerms == Terms::exact) {
    sum = add_exact_product(sum, x, y);
  } else {
    sum += x * y;
  }
}

inline Vec<double> bound_of(Vec<double> y, const Tolerance& tolerance) {
  return tolerance.absolute + tolerance.relative * absolute(y);
}

// x / y - 1 where y is not next to nothing, without the cancellation.
inline Vec<double> relative_error(Vec<double> error, Vec<double> y) {
  const Vec<double> size = absolute(y);
  return (Vec<double>)((PairMask)(error / size) & (size > 0x1p-52));
}

// Where x and y come from: a piece, or elements of one type as they lie in memory, which saves to
// write the piece and to read it again.
struct FromPiece {
  const PairPiece& piece;
  void prefetch_next(std::size_t) const {}
  Vec<double> x(std::size_t i) const { return load<Vec<double>>(piece.x + i); }
  Vec<double> y(std::size_t i) const { return load<Vec<double>>(piece.y + i); }
};

template <class Lanes>
struct FromMemory {
  const std::byte* a;
  const std::byte* b;
  // Of the block that comes next: while this one is added up memory has nothing else to do.
  void prefetch_next(std::size_t i) const {
    const std::size_t at = (i + kPairBlockElements) * Lanes::kBytes;
    prefetch(a + at, kPairLanes * Lanes::kBytes);
    prefetch(b + at, kPairLanes * Lanes::kBytes);
  }
  Vec<double> x(std::size_t i) const { return Lanes::at(a + i * Lanes::kBytes); }
  Vec<double> y(std::size_t i) const { return Lanes::at(b + i * Lanes::kBytes); }
};

// Adds pairs [begin, end), whose number is a multiple of kPairLanes; `piece` has their terms if
// those are given. Works on a copy, which compilers keep in registers.
template <Terms kTerms, bool kExtremes, class Source>
inline void add_pairs(Source source, const PairPiece* piece, std::size_t begin, std::size_t end,
                      const Tolerance& tolerance, PairSums& sums) {
  PairSums local = sums;
  const Tolerance bounds = tolerance;
  for (std::size_t i = begin; i < end; i += kPairLanes) {
    source.prefetch_next(i);
#pragma GCC unroll 4
    for (std::size_t k = 0; k < kPairVectors; ++k) {
      const std::size_t at = i + k * kWidth<double>;
      const Vec<double> x = source.x(at);
      const Vec<double> y = source.y(at);
      if constexpr (kExtremes) {
        local.max_x[k] = larger(x, local.max_x[k]);
        local.min_x[k] = smaller(x, local.min_x[k]);
        local.max_y[k] = larger(y, local.max_y[k]);
        local.min_y[k] = smaller(y, local.min_y[k]);
      }
      local.x[k] += x;
      local.y[k] += y;
      add_product<kTerms>(local.squares_x[k], x, x);
      add_product<kTerms>(local.squares_y[k], y, y);
      if constexpr (kTerms == Terms::given) {
        local.products[k] += load<Vec<double>>(piece->product + at);
      } else {
        add_product<kTerms>(local.products[k], x, y);
      }
      const Vec<double> error = error_at<kTerms>(piece, at, x, y);
      local.error[k] += error;
      local.error_squares[k] += error * error;
      local.error_max[k] = larger(error, local.error_max[k]);
      local.mismatched[k] = count_greater(local.mismatched[k], error, bound_of(y, bounds));
      const Vec<double> relative = relative_error(error, y);
      local.relative[k] += relative;
      local.relative_max[k] = larger(relative, local.relative_max[k]);
    }
  }
  sums = local;
}

struct PairLaneArray {
  alignas(64) double lanes[kPairLanes];
  explicit PairLaneArray(const LaneSums& vectors) {
    for (std::size_t k = 0; k < kPairVectors; ++k) store(lanes + k * kWidth<double>, vectors[k]);
  }
};

inline double add_lanes(const double* lanes) {
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
         ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

inline double sum_of(const LaneSums& vectors) { return add_lanes(PairLaneArray(vectors).lanes); }

inline double max_of(const LaneSums& vectors) {
  double best = -__builtin_inf();
  for (const PairLaneArray all(vectors); const double lane : all.lanes) {
    best = lane > best ? lane : best;
  }
  return best;
}

inline double min_of(const LaneSums& vectors) {
  double best = __builtin_inf();
  for (const PairLaneArray all(vectors); const double lane : all.lanes) {
    best = lane < best ? lane : best;
  }
  return best;
}

inline std::uint64_t count_of(Vec<std::int64_t> lanes) {
  return static_cast<std::uint64_t>(sum_lanes<std::int64_t>(lanes));
}

inline std::uint64_t count_bad(const PairBlock& block) {
  return block.only_a_bad + block.only_b_bad + block.both_bad;
}

// Whether there is a NaN or Inf among the first n pairs, a multiple of kPairLanes.
inline bool any_bad(const PairPiece& piece, std::size_t n) {
  PairMask bad = {};
  for (std::size_t i = 0; i < n; i += kWidth<double>) {
    bad |= is_bad(load<Vec<double>>(piece.x + i)) | is_bad(load<Vec<double>>(piece.y + i));
  }
  return sum_lanes<std::int64_t>(bad) != 0;
}

struct BlockSums {
  PairSums sums;
  BadPairs bad;
  std::size_t n_padding = 0;

  // n pairs, padded. with_bad: there may be NaN and Inf among them; else those are met in the last
  // pairs only. The extremes are those of the others, unless codes tell them.
  template <Terms kTerms, bool kExtremes>
  void add(PairPiece& piece, std::size_t padded, std::size_t n, const Tolerance& tolerance,
           bool with_bad) {
    const bool set_aside = with_bad && any_bad(piece, n - n % kPairLanes);
    const std::size_t whole = set_aside ? 0 : n - n % kPairLanes;
    add_pairs<kTerms, kExtremes>(FromPiece{piece}, &piece, 0, whole, tolerance, sums);
    if (whole == padded) return;
    n_padding += padded - n;
    bad.set_aside<kTerms>(piece, whole, padded, 0, 0, sums);
    add_pairs<kTerms, false>(FromPiece{piece}, &piece, whole, padded, tolerance, sums);
  }

  void store(PairBlock& block) const;
};

inline void BlockSums::store(PairBlock& block) const {
  block.a = {sum_of(sums.x), sum_of(sums.squares_x), 0, max_of(sums.max_x), min_of(sums.min_x), 0};
  block.b = {sum_of(sums.y), sum_of(sums.squares_y), 0, max_of(sums.max_y), min_of(sums.min_y), 0};
  block.products = sum_of(sums.products);
  block.error_sum = sum_of(sums.error);
  block.error_squares = sum_of(sums.error_squares);
  block.error_max = max_of(sums.error_max);
  block.relative_sum = sum_of(sums.relative);
  block.relative_max = max_of(sums.relative_max);
  block.error_exponent = block.relative_exponent = 0;
  block.mismatched = count_of(bad.mismatched);
  for (const auto& lanes : sums.mismatched) block.mismatched += count_of(lanes);
  block.only_a_bad = count_of(bad.only_a);
  block.only_b_bad = count_of(bad.only_b);
  block.both_bad = count_of(bad.both) - n_padding;
}

// Whether nothing tells of a NaN or Inf, which stay in the squares; float64 may also get there by
// overflow.
inline bool is_finite(const PairBlock& block) {
  return block.a.squares < __builtin_inf() && block.b.squares < __builtin_inf() &&
         count_bad(block) == 0;
}

template <Terms kTerms>
void add_terms(const PairOperands& operands, std::size_t n, const Tolerance& tolerance,
               bool with_bad, PairBlock& block) {
  BlockSums sums;
  const auto fill_piece = [&](std::size_t first, std::size_t count, PairPiece& piece) {
    fill(operands, first, count, piece);
  };
  const auto add_piece = [&](PairPiece& piece, std::size_t padded, std::size_t count, std::size_t) {
    sums.add<kTerms, true>(piece, padded, count, tolerance, with_bad);
  };
  for_each_pair_piece(n, fill_piece, add_piece);
  sums.store(block);
  if (with_bad || is_finite(block)) return;
  add_terms<kTerms>(operands, n, tolerance, true, block);
}

// Pairs of one type with the format F, whose codes tell a part of it for less.
template <class F, class Lanes, Terms kTerms>
void add_codes(const PairOperands& operands, std::size_t n, const Tolerance& tolerance,
               PairBlock& block) {
  BlockSums sums;
  CodePairs<typename F::Bits, F::kInf> codes;
  const bool with_bad = codes.add(operands.data_a, operands.data_b, n);
  // Without NaN and Inf only the last few pairs need a piece, which pads them.
  const std::size_t done = with_bad ? 0 : n - n % kPairLanes;
  const FromMemory<Lanes> source = {operands.data_a, operands.data_b};
  add_pairs<kTerms, false>(source, nullptr, 0, done, tolerance, sums.sums);
  const auto fill_piece = [&](std::size_t first, std::size_t count, PairPiece& piece) {
    fill(operands, done + first, count, piece);
  };
  const auto add_piece = [&](PairPiece& piece, std::size_t padded, std::size_t count, std::size_t) {
    sums.add<kTerms, false>(piece, padded, count, tolerance, with_bad);
  };
  for_each_pair_piece(n - done, fill_piece, add_piece);
  sums.store(block);
  block.ulp_max = codes.found.ulp_max;
  if (count_bad(block) == n) return;
  block.a.max = F::value(codes.code_of(codes.found.max_x));
  block.a.min = F::value(codes.code_of(codes.found.min_x));
  block.b.max = F::value(codes.code_of(codes.found.max_y));
  block.b.min = F::value(codes.code_of(codes.found.min_y));
}

// The exponent by which numbers up to `largest` are scaled so that their squares stay in range.
// Numbers so much smaller than the largest that scaling loses them do not show in the result.
inline int squares_exponent(double largest) {
  if (largest > 0x1p480) return ExactSum::kScaleExponent;
  return largest != 0 && largest < 0x1p-440 ? -ExactSum::kScaleExponent : 0;
}

inline double largest_of(const PairSide& side) {
  return side.max > -side.min ? side.max : -side.min;
}

// Sums of float64 values that leave the range are added again, scaled. What is counted stands.
inline void rescale(const PairOperands& operands, std::size_t n, PairBlock& block) {
  block.a.exponent = squares_exponent(largest_of(block.a));
  block.b.exponent = squares_exponent(largest_of(block.b));
  block.error_exponent = squares_exponent(block.error_max);
  block.relative_exponent = block.relative_max > 0x1p900 ? ExactSum::kScaleExponent : 0;
  if (block.a.exponent == 0 && block.b.exponent == 0 && block.error_exponent == 0 &&
      block.relative_exponent == 0) {
    return;
  }
  const PairScale scale = scale_of(block);
  const double unscale_y = power_of_two(block.b.exponent);
  const double to_relative = power_of_two(block.error_exponent - block.relative_exponent);
  enum { kX, kY, kSquaresX, kSquaresY, kProducts, kError, kErrorSquares, kRelative, kSums };
  double sums[kSums][kPairLanes] = {};
  block.error_max = block.relative_max = 0;
  const auto fill_piece = [&](std::size_t first, std::size_t count, PairPiece& piece) {
    fill_scaled(operands, first, count, scale, piece);
  };
  const auto add_piece = [&](const PairPiece& piece, std::size_t, std::size_t count, std::size_t) {
    for (std::size_t i = 0; i < count; ++i) {
      const double x = piece.x[i];
      const double y = piece.y[i];
      if (!is_finite(x) || !is_finite(y)) continue;
      const double error = piece.error[i];
      const double size = (y < 0 ? -y : y) * unscale_y;
      double relative = size > 0x1p-52 ? error * to_relative / size : 0;
      if (!is_finite(size) || !is_finite(error * to_relative)) {
        // Magnitudes of complex elements need not fit float64, their quotient does.
        relative = error / (y < 0 ? -y : y) * scale.y * to_relative;
      }
      const std::size_t lane = i % kPairLanes;
      const double terms[kSums] = {x,       y, x * x, y * y, piece.product[i], error, error * error,
                                   relative};
      for (int sum = 0; sum < kSums; ++sum) sums[sum][lane] += terms[sum];
      block.error_max = error > block.error_max ? error : block.error_max;
      block.relative_max = relative > block.relative_max ? relative : block.relative_max;
    }
  };
  for_each_pair_piece(n, fill_piece, add_piece);
  block.a.sum = add_lanes(sums[kX]);
  block.b.sum = add_lanes(sums[kY]);
  block.a.squares = add_lanes(sums[kSquaresX]);
  block.b.squares = add_lanes(sums[kSquaresY]);
  block.products = add_lanes(sums[kProducts]);
  block.error_sum = add_lanes(sums[kError]);
  block.error_squares = add_lanes(sums[kErrorSquares]);
  block.relative_sum = add_lanes(sums[kRelative]);
}

// The mean in 24 bits, from which elements of that many are subtracted without rounding; 0 if the
// squares tell the spread well enough.
inline double pivot_of(const PairSide& side, double n_finite) {
  if (!(side.sum * side.sum > 0.99 * side.squares * n_finite)) return 0;
  constexpr int kDropped = 52 - 23;
  const auto bits = std::bit_cast<std::uint64_t>(side.sum / n_finite);
  const std::uint64_t half = std::uint64_t{1} << (kDropped - 1);
  return std::bit_cast<double>((bits + half) >> kDropped << kDropped);
}

// Where finite values lie about a number far from 0, they are added again about that number.
inline void centre(const PairOperands& operands, std::size_t n, PairBlock& block) {
  const std::uint64_t n_bad = count_bad(block);
  const auto n_finite = static_cast<double>(n - n_bad);
  const double pivot_a = pivot_of(block.a, n_finite);
  const double pivot_b = pivot_of(block.b, n_finite);
  if (pivot_a == 0 && pivot_b == 0) return;
  const PairScale scale = scale_of(block);
  const bool scaled = scale.x != 1 || scale.y != 1;
  PairSums sums;
  BadPairs bad;
  const auto fill_piece = [&](std::size_t first, std::size_t count, PairPiece& piece) {
    if (scaled) {
      fill_scaled(operands, first, count, scale, piece);
    } else {
      fill(operands, first, count, piece);
    }
  };
  const auto add_piece = [&](PairPiece& piece, std::size_t padded, std::size_t count, std::size_t) {
    const std::size_t whole = n_bad == 0 ? count - count % kPairLanes : 0;
    bad.set_aside<Terms::rounded>(piece, whole, padded, pivot_a, pivot_b, sums);
    PairSums local = sums;
    for (std::size_t i = 0; i < padded; i += kPairLanes) {
      for (std::size_t k = 0; k < kPairVectors; ++k) {
        const std::size_t at = i + k * kWidth<double>;
        const auto x = load<Vec<double>>(piece.x + at) - pivot_a;
        const auto y = load<Vec<double>>(piece.y + at) - pivot_b;
        local.x[k] += x;
        local.y[k] += y;
        local.squares_x[k] += x * x;
        local.squares_y[k] += y * y;
      }
    }
    sums = local;
  };
  for_each_pair_piece(n, fill_piece, add_piece);
  const auto set = [](PairSide& side, double pivot, const LaneSums& sum, const LaneSums& squares) {
    if (pivot == 0) return;
    side.pivot = pivot;
    side.sum = sum_of(sum);
    side.squares = sum_of(squares);
  };
  set(block.a, pivot_a, sums.x, sums.squares_x);
  set(block.b, pivot_b, sums.y, sums.squares_y);
}

// Whether n elements of one type have the same bits.
inline bool have_same_bits(const PairOperands& operands, std::size_t n) {
  const std::size_t n_bits = n * static_cast<std::size_t>(element_bits(operands.a));
  const std::size_t whole = n_bits / 8;
  if (std::memcmp(operands.data_a, operands.data_b, whole) != 0) return false;
  const auto rest = static_cast<int>(n_bits % 8);
  if (rest == 0) return true;
  const int mask = operands.a == Element::uint1 ? 0xff00 >> rest : (1 << rest) - 1;
  const auto differ = static_cast<int>(operands.data_a[whole] ^ operands.data_b[whole]);
  return (differ & mask & 0xff) == 0;
}

// Elements that are the same on both sides: what adding pairs would give, for less. False if there
// may be a NaN or Inf among them.
inline bool add_same(Element element, const std::byte* data, std::size_t n, PairBlock& block) {
  LaneSums sum = {};
  LaneSums squares = {};
  auto max = broadcast(-__builtin_inf());
  auto min = broadcast(__builtin_inf());
  alignas(64) double x[kPieceElements];
  const auto add = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; i += kPairLanes) {
#pragma GCC unroll 4
      for (std::size_t k = 0; k < kPairVectors; ++k) {
        const auto values = load<Vec<double>>(x + i + k * kWidth<double>);
        sum[k] += values;
        squares[k] += values * values;
      }
    }
  };
  for (std::size_t first = 0; first < n; first += kPieceElements) {
    const std::size_t count = n - first < kPieceElements ? n - first : kPieceElements;
    elements_to_float64(element, element_at(element, data, first), count, x);
    // Lanes that no element has show neither in the sums nor in the extremes.
    const std::size_t padded = (count + kPairLanes - 1) / kPairLanes * kPairLanes;
    for (std::size_t i = count; i < padded; ++i) x[i] = x[0];
    for (std::size_t i = 0; i < padded; i += kWidth<double>) {
      const auto values = load<Vec<double>>(x + i);
      max = larger(values, max);
      min = smaller(values, min);
    }
    for (std::size_t i = count; i < padded; ++i) x[i] = 0;
    add(0, padded);
  }
  const double total = sum_of(squares);
  if (!(total < __builtin_inf())) return false;
  block = {};
  block.a = {sum_of(sum), total, 0, max_lane<double>(max), min_lane<double>(min), 0};
  block.b = block.a;
  block.products = total;
  block.same_bits = true;
  return true;
}

inline void add_operands(const PairOperands& operands, std::size_t n, const Tolerance& tolerance,
                         bool expect_bad, PairBlock& block) {
  const bool same = operands.a == operands.b;
  const bool same_bits = same && have_same_bits(operands, n);
  if (same_bits && !is_complex(operands.a) && add_same(operands.a, operands.data_a, n, block)) {
    return;
  }
  block.same_bits = same_bits;
  if (same && operands.a == Element::float16) {
    return add_codes<Float16, Float16Lanes, Terms::exact>(operands, n, tolerance, block);
  }
  if (same && operands.a == Element::bfloat16) {
    return add_codes<Bfloat16, Bfloat16Lanes, Terms::exact>(operands, n, tolerance, block);
  }
  if (same && operands.a == Element::float32) {
    return add_codes<Float32, Float32Lanes, Terms::exact>(operands, n, tolerance, block);
  }
  if (same && operands.a == Element::float64) {
    return add_codes<Float64, Float64Lanes, Terms::rounded>(operands, n, tolerance, block);
  }
  block.ulp_max = same ? other_ulp_max(operands, n) : 0;
  switch (terms_of(operands.a, operands.b)) {
    case Terms::exact:
      return add_terms<Terms::exact>(operands, n, tolerance, expect_bad, block);
    case Terms::rounded:
      return add_terms<Terms::rounded>(operands, n, tolerance, expect_bad, block);
    case Terms::given:
      return add_terms<Terms::given>(operands, n, tolerance, expect_bad, block);
  }
}

inline void compare_pairs(const PairOperands& operands, std::size_t n, const Tolerance& tolerance,
                          bool expect_bad, PairBlock& block) {
  add_operands(operands, n, tolerance, expect_bad, block);
  if (count_bad(block) == n) return;
  rescale(operands, n, block);
  centre(operands, n, block);
}

// The index of the first pair that `is` holds for; -1: none.
template <class Is>
inline std::int64_t find_pair(const PairOperands& operands, std::size_t n, const PairScale& scale,
                              Is is) {
  PairPiece piece;
  for (std::size_t first = 0; first < n; first += kPieceElements) {
    const std::size_t count = n - first < kPieceElements ? n - first : kPieceElements;
    fill_scaled(operands, first, count, scale, piece);
    const std::size_t padded = pad(piece, count);
    for (std::size_t i = 0; i < padded; i += kWidth<double>) {
      const LaneArray<std::int64_t> hits(is(load<Vec<double>>(piece.x + i),
                                            load<Vec<double>>(piece.y + i),
                                            load<Vec<double>>(piece.error + i)));
      for (std::size_t lane = 0; lane < kWidth<double>; ++lane) {
        if (hits.lanes[lane] != 0) return static_cast<std::int64_t>(first + i + lane);
      }
    }
  }
  return -1;
}

inline PairPlaces locate_pairs(const PairOperands& operands, std::size_t n,
                               const Tolerance& tolerance, const PairBlock& block) {
  PairPlaces places = {-1, -1};
  if (block.mismatched != 0) {
    places.mismatch = find_pair(operands, n, {}, [&](auto x, auto y, auto error) -> PairMask {
      const PairMask bad = is_bad(x) | is_bad(y);
      return (bad & ~is_same_bad(x, y)) | (~bad & (error > bound_of(y, tolerance)));
    });
  }
  if (block.error_max > 0) {
    const PairScale scale = scale_of(block);
    places.error_max = find_pair(operands, n, scale, [&](auto x, auto y, auto error) -> PairMask {
      return (error == block.error_max) & ~(is_bad(x) | is_bad(y));
    });
  }
  return places;
}
