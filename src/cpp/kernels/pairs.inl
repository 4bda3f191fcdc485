// Blocks of pairs of elements: which way of adding them suits their types. Included inside the
// tier's anonymous namespace by tier.inl.

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
    return add_format<Float16, Float16Lanes, Terms::exact>(operands, n, tolerance, expect_bad,
                                                           block);
  }
  if (same && operands.a == Element::bfloat16) {
    return add_format<Bfloat16, Bfloat16Lanes, Terms::exact>(operands, n, tolerance, expect_bad,
                                                             block);
  }
  if (same && operands.a == Element::float32) {
    return add_format<Float32, Float32Lanes, Terms::exact>(operands, n, tolerance, expect_bad,
                                                           block);
  }
  if (same && operands.a == Element::float64) {
    return add_format<Float64, Float64Lanes, Terms::rounded>(operands, n, tolerance, expect_bad,
                                                             block);
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
