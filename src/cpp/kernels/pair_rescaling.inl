// Blocks of pairs, added again: scaled, where sums leave float64's range, and about another number
// than 0, where squares would hide the spread. Included inside the tier's anonymous namespace by
// tier.inl.

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
