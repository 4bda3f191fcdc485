// Pairs with a NaN or Inf: counted, and set aside before the others are added. Included inside the
// tier's anonymous namespace by tier.inl.

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
