// Where in a block of pairs something lies that the block tells of. Included inside the tier's
// anonymous namespace by tier.inl.

// The index of the first pair that `is` holds for; -1: none.
template <class Is>
inline std::int64_t find_pair(const PairOperands& operands, std::size_t n, const PairScale& scale,
                              Is is) {
  const bool scaled = scale.x != 1 || scale.y != 1 || scale.error != 1;
  const bool given = scaled || terms_of(operands.a, operands.b) == Terms::given;
  PairPiece piece;
  for (std::size_t first = 0; first < n; first += kPieceElements) {
    const std::size_t count = n - first < kPieceElements ? n - first : kPieceElements;
    if (scaled) {
      fill_scaled(operands, first, count, scale, piece);
    } else {
      fill(operands, first, count, piece);
    }
    const std::size_t padded = pad(piece, count);
    for (std::size_t i = 0; i < padded; i += kWidth<double>) {
      const auto x = load<Vec<double>>(piece.x + i);
      const auto y = load<Vec<double>>(piece.y + i);
      const PairMask found = is(x, y, given ? load<Vec<double>>(piece.error + i) : absolute(x - y));
      if (!any_lane(found)) continue;
      const LaneArray<std::int64_t> hits(found);
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
