// Extremes and sums of finite floating-point elements, in lanes. Included inside the tier's
// anonymous namespace by tier.inl.

struct Sums {
  alignas(64) double sum[kLanes] = {};
  alignas(64) double sum_squares[kLanes] = {};
};

// Sums and squares of so many registers are added at once: more would not stay in registers.
#if defined(__AVX512F__) || defined(__aarch64__)
inline constexpr std::size_t kMaxGroup = 8;
#else
inline constexpr std::size_t kMaxGroup = 4;
#endif
inline constexpr std::size_t kGroup = kSumVectors < kMaxGroup ? kSumVectors : kMaxGroup;

template <FloatFormat F>
struct FloatExtremes {
  Vec<typename F::Key> max = broadcast(F::kLowest);
  Vec<typename F::Key> min = broadcast(F::kHighest);
};

// Adds the lanes of x that are finite. The others are left out by comparing the best with itself.
template <class V, class Mask>
inline void add_masked(V x, Mask finite, V& max, V& min) {
  const V high = finite ? x : max;
  const V low = finite ? x : min;
  max = high > max ? high : max;
  min = low < min ? low : min;
}

// Adds those of n elements that are finite.
template <FloatFormat F>
void add_extremes(const std::byte* p, std::size_t n, FloatExtremes<F>& extremes) {
  FloatExtremes<F> local = extremes;
  for_each_register<F>(p, n, kNan<F>, [&](auto bits, std::size_t) {
    add_masked(F::keys(bits), finite_mask<F>(bits), local.max, local.min);
  });
  extremes = local;
}

// Adds whole steps to the lanes of kGroup registers, the first of which is kFirst; those to
// `extremes` too if kFirst is 0.
template <FloatFormat F, bool kExtremes, std::size_t kFirst, std::size_t... k>
inline void add_group(const std::byte* p, std::size_t n, FloatExtremes<F>& extremes, Sums& sums,
                      std::index_sequence<k...>) {
  using Bits = typename F::Bits;
  constexpr std::size_t kWidthDouble = kWidth<double>;
  Vec<double> sum[] = {load<Vec<double>>(sums.sum + (kFirst + k) * kWidthDouble)...};
  Vec<double> squares[] = {load<Vec<double>>(sums.sum_squares + (kFirst + k) * kWidthDouble)...};
  auto max = extremes.max;
  auto min = extremes.min;
  for (std::size_t i = 0; i < n; i += kLanes) {
    const std::byte* step = p + i * sizeof(Bits);
    if constexpr (kFirst == 0) prefetch_ahead(step, kLanes * sizeof(Bits));
    if constexpr (kExtremes) {
#pragma GCC unroll 16
      for (std::size_t v = 0; v < kLanes / kWidth<Bits>; ++v) {
        const auto x = F::keys(load<Vec<Bits>>(step + v * kVectorBytes));
        max = x > max ? x : max;
        min = x < min ? x : min;
      }
      if constexpr (sizeof(Bits) == 2) step = load_again(step);
    }
    const auto add = [](Vec<double> x, Vec<double>& to_sum, Vec<double>& to_squares) {
      to_sum += x;
      to_squares = F::add_square(to_squares, x);
    };
    (add(F::template values<kFirst + k>(step), sum[k], squares[k]), ...);
  }
  extremes = {max, min};
  (store(sums.sum + (kFirst + k) * kWidthDouble, sum[k]), ...);
  (store(sums.sum_squares + (kFirst + k) * kWidthDouble, squares[k]), ...);
}

template <FloatFormat F, bool kExtremes>
void add_steps(const std::byte* p, std::size_t n, FloatExtremes<F>& extremes, Sums& sums) {
  [&]<std::size_t... group>(std::index_sequence<group...>) {
    (add_group < F, kExtremes && group == 0,
     group * kGroup > (p, n, extremes, sums, std::make_index_sequence<kGroup>()), ...);
  }(std::make_index_sequence<kSumVectors / kGroup>());
}

template <FloatFormat F>
void add_last_sums(const std::byte* p, std::size_t n, Sums& sums) {
  for (std::size_t i = 0; i < n; ++i) {
    const double x = F::value(bits_at<F>(p, i));
    const std::size_t lane = F::lane(i);
    sums.sum[lane] += x;
    sums.sum_squares[lane] += x * x;
  }
}
