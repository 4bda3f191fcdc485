// The terms of the Kullback-Leibler divergence of two tensors, each taken for a distribution.
// Included inside the tier's anonymous namespace by tier.inl.

// No term of a distribution is smaller: float32's epsilon, as the vendor has it.
inline constexpr double kLeastTerm = 0x1p-23;

// ln(x) of positive normal numbers, within 2 units of the last place: x is 2^k * m with m about 1,
// ln(m) a series in (m - 1) / (m + 1). No library's logarithm has the same bits everywhere.
inline Vec<double> natural_logarithm(Vec<double> x) {
  using Bits = Vec<std::uint64_t>;
  constexpr std::uint64_t kRootOfHalf = 0x3fe6a09e667f3bcd;
  constexpr std::uint64_t kOne = 0x3ff0000000000000;
  // The exponent of x / sqrt(1/2), still biased.
  const Bits exponent = ((Bits)x + (kOne - kRootOfHalf)) >> 52;
  const auto m = (Vec<double>)((Bits)x - (exponent << 52) + kOne);
  // As the mantissa of a large number the exponent becomes float64.
  const auto k = (Vec<double>)(exponent | 0x4330000000000000) - (0x1p52 + 1023);
  const Vec<double> f = (m - 1) / (m + 1);  // at most 0.1716
  const Vec<double> s = f * f;
  // 2 * (f + f^3 / 3 + f^5 / 5 + ...); what is left out is below 2^-56 of it.
  constexpr double kCoefficients[] = {2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13,
                                      2.0 / 11, 2.0 / 9,  2.0 / 7,  2.0 / 5,  2.0 / 3};
  Vec<double> series = broadcast(kCoefficients[0]);
  for (std::size_t i = 1; i < sizeof kCoefficients / sizeof *kCoefficients; ++i) {
    series = series * s + kCoefficients[i];
  }
  // ln(2) in two parts; the first has so few bits that k times it is exact.
  constexpr double kLn2High = 0x1.62e42feep-1;
  constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
  return k * kLn2High + (2 * f + (f * s * series + k * kLn2Low));
}

inline double logarithm(double x) {
  return LaneArray<double>(natural_logarithm(broadcast(x))).lanes[0];
}

inline Vec<double> distribution_term(Vec<double> x, const DivergenceSide& side) {
  if (side.range == 0) return broadcast(1.0);
  return larger((x * side.scale - side.min) / side.range, broadcast(kLeastTerm));
}

inline void diverge_pairs(const PairOperands& operands, std::size_t n, const DivergenceSide& a,
                          const DivergenceSide& b, DivergenceBlock& block) {
  LaneSums sum_p = {};
  LaneSums sum_q = {};
  LaneSums sum_terms = {};
  const auto fill_piece = [&](std::size_t first, std::size_t count, PairPiece& piece) {
    fill(operands, first, count, piece);
  };
  const auto add_piece = [&](const PairPiece& piece, std::size_t padded, std::size_t, std::size_t) {
    for (std::size_t i = 0; i < padded; i += kPairLanes) {
      for (std::size_t k = 0; k < kPairVectors; ++k) {
        const std::size_t at = i + k * kWidth<double>;
        const auto x = load<Vec<double>>(piece.x + at);
        const auto y = load<Vec<double>>(piece.y + at);
        const PairMask finite = ~(is_bad(x) | is_bad(y));
        const Vec<double> one = broadcast(1.0);
        const Vec<double> p = finite ? distribution_term(x, a) : one;
        const Vec<double> q = finite ? distribution_term(y, b) : one;
        sum_p[k] += (Vec<double>)((PairMask)p & finite);
        sum_q[k] += (Vec<double>)((PairMask)q & finite);
        sum_terms[k] += p * natural_logarithm(p / q);
      }
    }
  };
  for_each_pair_piece(n, fill_piece, add_piece);
  block.p = sum_of(sum_p);
  block.q = sum_of(sum_q);
  block.terms = sum_of(sum_terms);
}
