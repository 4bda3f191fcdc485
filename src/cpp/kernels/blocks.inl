// What the kernels of all element types need to fill a Block. Included inside the tier's anonymous
// namespace by tier.inl.

constexpr double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

inline void clear_counts(Block& block) {
  block.nan = block.pos_inf = block.neg_inf = 0;
  block.zero = block.subnormal = block.saturated = 0;
  block.min_abs = 0;
  block.first_bad = -1;
}

inline void clear_moments(Block& block) {
  for (std::size_t i = 0; i < kLanes; ++i) block.sum[i] = block.sum_squares[i] = 0;
  block.sum_exponent = block.squares_exponent = 0;
}

inline void store_lanes(const Vec<double> (&vectors)[kLanes / kWidth<double>], double* lanes) {
  for (std::size_t k = 0; k < kLanes / kWidth<double>; ++k) {
    store(lanes + k * kWidth<double>, vectors[k]);
  }
}
