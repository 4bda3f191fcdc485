// The sums of pairs that are finite on both sides, in lanes. Included inside the tier's anonymous
// namespace by tier.inl.

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

// Adds pairs to vector k of each sum; `piece` has their terms from `at` on if those are given.
template <Terms kTerms, bool kExtremes>
inline void add_pairs(PairSums& sums, std::size_t k, Vec<double> x, Vec<double> y,
                      const PairPiece* piece, std::size_t at, const Tolerance& tolerance) {
  if constexpr (kExtremes) {
    sums.max_x[k] = larger(x, sums.max_x[k]);
    sums.min_x[k] = smaller(x, sums.min_x[k]);
    sums.max_y[k] = larger(y, sums.max_y[k]);
    sums.min_y[k] = smaller(y, sums.min_y[k]);
  }
  sums.x[k] += x;
  sums.y[k] += y;
  add_product<kTerms>(sums.squares_x[k], x, x);
  add_product<kTerms>(sums.squares_y[k], y, y);
  if constexpr (kTerms == Terms::given) {
    sums.products[k] += load<Vec<double>>(piece->product + at);
  } else {
    add_product<kTerms>(sums.products[k], x, y);
  }
  const Vec<double> error = error_at<kTerms>(piece, at, x, y);
  sums.error[k] += error;
  sums.error_squares[k] += error * error;
  sums.error_max[k] = larger(error, sums.error_max[k]);
  sums.mismatched[k] = count_greater(sums.mismatched[k], error, bound_of(y, tolerance));
  const Vec<double> relative = relative_error(error, y);
  sums.relative[k] += relative;
  sums.relative_max[k] = larger(relative, sums.relative_max[k]);
}

// Adds pairs [begin, end) of a piece, whose number is a multiple of kPairLanes. Works on a copy,
// which compilers keep in registers.
template <Terms kTerms, bool kExtremes>
inline void sum_piece(const PairPiece& piece, std::size_t begin, std::size_t end,
                      const Tolerance& tolerance, PairSums& sums) {
  PairSums local = sums;
  const Tolerance bounds = tolerance;
  for (std::size_t i = begin; i < end; i += kPairLanes) {
#pragma GCC unroll 4
    for (std::size_t k = 0; k < kPairVectors; ++k) {
      const std::size_t at = i + k * kWidth<double>;
      const auto x = load<Vec<double>>(piece.x + at);
      const auto y = load<Vec<double>>(piece.y + at);
      add_pairs<kTerms, kExtremes>(local, k, x, y, &piece, at, bounds);
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
