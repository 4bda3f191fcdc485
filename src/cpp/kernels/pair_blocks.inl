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
    sum_piece<kTerms, kExtremes>(piece, 0, whole, tolerance, sums);
    if (whole == padded) return;
    n_padding += padded - n;
    bad.set_aside<kTerms>(piece, whole, padded, 0, 0, sums);
    sum_piece<kTerms, false>(piece, whole, padded, tolerance, sums);
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
template <FloatFormat F, LaneLoader L, Terms kTerms>
class FormatBlock {
 public:
  FormatBlock(const PairOperands& operands, const Tolerance& tolerance)
      : operands_(operands), tolerance_(tolerance) {}

  // Adds the first n pairs.
  void add(std::size_t n, bool expect_bad) {
    const std::size_t whole = n - n % kStep;
    if (expect_bad || !add_finite(0, whole)) {
      for (std::size_t first = 0; first < whole; first += kRun) {
        const std::size_t count = whole - first < kRun ? whole - first : kRun;
        if (!add_finite(first, count)) add_any(first, count);
      }
    }
    if (whole != n) add_any(whole, n - whole);
  }

  // Of n pairs.
  void store(std::size_t n, PairBlock& block) const {
    sums_.store(block);
    block.ulp_max = codes_.ulp_max();
    if (count_bad(block) == n) return;
    block.a.max = value(max_lane<Bits>(codes_.max_x));
    block.a.min = value(min_lane<Bits>(codes_.min_x));
    block.b.max = value(max_lane<Bits>(codes_.max_y));
    block.b.min = value(min_lane<Bits>(codes_.min_y));
  }

 private:
  using Bits = typename F::Bits;
  using Codes = CodePairs<Bits, F::kInf>;

  // Whole registers of codes and of each sum.
  static constexpr std::size_t kStep = kWidth<Bits> > kPairLanes ? kWidth<Bits> : kPairLanes;
  // So many pairs take the slower way for the sake of one NaN or Inf.
  static constexpr std::size_t kRun = 128;
  static_assert(kRun % kStep == 0 && kRun <= kPieceElements);

  const std::byte* a(std::size_t i) const { return operands_.data_a + i * sizeof(Bits); }
  const std::byte* b(std::size_t i) const { return operands_.data_b + i * sizeof(Bits); }
  static double value(Bits order) { return F::value(Codes::code_of(order)); }

  void add_codes(Codes& codes, std::size_t first) const {
    for (std::size_t i = first; i < first + kStep; i += kWidth<Bits>) {
      codes.template add<false>(a(i), b(i));
    }
  }

  void add_step(PairSums& sums, std::size_t first, const Tolerance& bounds) const {
    // Of the block that comes next: while this one is added up memory has nothing else to do.
    prefetch(a(first + kPairBlockElements), kStep * sizeof(Bits));
    prefetch(b(first + kPairBlockElements), kStep * sizeof(Bits));
#pragma GCC unroll 16
    for (std::size_t j = 0; j < kStep / kWidth<double>; ++j) {
      const std::size_t at = first + j * kWidth<double>;
      add_pairs<kTerms, false>(sums, j % kPairVectors, L::at(a(at)), L::at(b(at)), nullptr, 0,
                               bounds);
    }
  }

  // Adds n pairs, a multiple of kStep. False if there is a NaN or Inf among them: then nothing is
  // added. Works on copies, which compilers keep in registers.
  bool add_finite(std::size_t first, std::size_t n) {
    Codes codes = codes_;
    PairSums sums = sums_.sums;
    const Tolerance bounds = tolerance_;
    if constexpr (kPairVectors == 1) {
      // The sums wait for the divider, the codes do not: beside each other they take less.
      for (std::size_t i = first; i < first + n; i += kStep) {
        add_codes(codes, i);
        add_step(sums, i, bounds);
      }
      if (codes.any_bad()) return false;
    } else {
      // The sums alone fill the registers.
      for (std::size_t i = first; i < first + n; i += kStep) add_codes(codes, i);
      if (codes.any_bad()) return false;
      for (std::size_t i = first; i < first + n; i += kStep) add_step(sums, i, bounds);
    }
    codes_ = codes;
    sums_.sums = sums;
    return true;
  }

  // Adds n pairs, a piece at most, NaN and Inf among them.
  void add_any(std::size_t first, std::size_t n) {
    codes_.add(a(first), b(first), n);
    PairPiece piece;
    lanes_to_float64<L>(a(first), n, piece.x);
    lanes_to_float64<L>(b(first), n, piece.y);
    sums_.template add<kTerms, false>(piece, pad(piece, n), n, tolerance_, true);
  }

  const PairOperands& operands_;
  const Tolerance& tolerance_;
  Codes codes_;
  BlockSums sums_;
};

template <FloatFormat F, LaneLoader L, Terms kTerms>
inline void add_format(const PairOperands& operands, std::size_t n, const Tolerance& tolerance,
                       bool expect_bad, PairBlock& block) {
  FormatBlock<F, L, kTerms> pairs(operands, tolerance);
  pairs.add(n, expect_bad);
  pairs.store(n, block);
}
