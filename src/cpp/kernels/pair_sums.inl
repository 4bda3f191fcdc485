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

// Where x and y come from: a piece, or elements of one type as they lie in memory, which saves to
// write the piece and to read it again.
struct FromPiece {
  const PairPiece& piece;
  void prefetch_next(std::size_t) const {}
  Vec<double> x(std::size_t i) const { return load<Vec<double>>(piece.x + i); }
  Vec<double> y(std::size_t i) const { return load<Vec<double>>(piece.y + i); }
};

template <LaneLoader Lanes>
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
template <Terms kTerms, bool kExtremes, PairSource Source>
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
