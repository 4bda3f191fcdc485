// Blocks of pairs, added once: by their values or, where both sides are of one format, by their
// codes as well. Included inside the tier's anonymous namespace by tier.inl.

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
template <FloatFormat F, LaneLoader Lanes, Terms kTerms>
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
