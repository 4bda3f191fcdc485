// Pieces of floating-point elements with NaN and Inf: looked for, counted, and set aside before the
// others are summed. Included inside the tier's anonymous namespace by tier.inl.

// So many bytes take the slower way for the sake of one NaN or Inf, as long as these are few.
inline constexpr std::size_t kRunBytes = 512;

template <FloatFormat F>
bool any_bad(const std::byte* p, std::size_t n) {
  decltype(bad_mask<F>(Vec<typename F::Bits>{})) bad = {};
  for_each_register<F>(p, n, 0, [&](auto bits, std::size_t i) {
    prefetch_ahead(p + i * sizeof(typename F::Bits), kVectorBytes);
    bad |= bad_mask<F>(bits);
  });
  return any_lane(bad);
}

// How many elements are NaN or infinite, in lanes as wide as the elements: a block has too few
// elements to overflow one.
template <FloatFormat F>
struct BadCounts {
  using Bits = typename F::Bits;
  static constexpr Bits kNegInf = static_cast<Bits>(F::kInf | ~F::kMagnitude);
  Vec<Bits> bad = {};
  Vec<Bits> pos_inf = {};
  Vec<Bits> neg_inf = {};
  std::size_t n_fillers = 0;  // counted as NaN

  void add(Vec<Bits> bits) {
    bad = count_greater<Bits>(bad, bits & F::kMagnitude, broadcast<Bits>(F::kInf - 1));
    pos_inf = count_equal<Bits>(pos_inf, bits, broadcast(F::kInf));
    neg_inf = count_equal<Bits>(neg_inf, bits, broadcast(kNegInf));
  }
  void add(const std::byte* p, std::size_t n) {
    BadCounts local = *this;
    for_each_register<F>(p, n, kNan<F>, [&](auto bits, std::size_t) { local.add(bits); });
    local.n_fillers += fillers_of<F>(n);
    *this = local;
  }
  void store_in(Block& block) const {
    block.pos_inf = static_cast<std::uint64_t>(sum_lanes<Bits>(pos_inf));
    block.neg_inf = static_cast<std::uint64_t>(sum_lanes<Bits>(neg_inf));
    const auto all = static_cast<std::uint64_t>(sum_lanes<Bits>(bad));
    block.nan = all - block.pos_inf - block.neg_inf - n_fillers;
  }
};

struct Separated {
  bool any_bad = false;
  bool any_nonzero = false;  // among the finite elements
};

// Adds those of n elements that are not finite to the counts, and writes all with zero in the place
// of these, which changes no sum.
template <FloatFormat F>
Separated separate_bad(const std::byte* p, std::size_t n, BadCounts<F>& counts,
                       std::byte* finite_elements) {
  using Bits = typename F::Bits;
  BadCounts<F> local = counts;
  Vec<Bits> ones = {};
  for_each_register<F>(p, n, kNan<F>, [&](auto bits, std::size_t i) {
    prefetch_ahead(p + i * sizeof(Bits), kVectorBytes);
    local.add(bits);
    const auto finite = bits & finite_mask<F>(bits);
    ones |= finite;
    store(finite_elements + i * sizeof(Bits), finite);
  });
  const std::size_t n_fillers = fillers_of<F>(n);
  local.n_fillers += n_fillers;
  const bool any_bad = n_fillers != 0 || any_lane(local.bad ^ counts.bad);
  counts = local;
  return {any_bad, any_lane(ones)};
}

// False if a NaN or Inf was added.
template <FloatFormat F>
inline bool is_all_finite(const FloatExtremes<F>& extremes, const Sums& sums) {
  if constexpr (std::is_integral_v<typename F::Key>) {
    // They order beyond the others.
    return !any_lane((extremes.max >= F::kInf) |
                     (extremes.min <= static_cast<typename F::Key>(~F::kInf)));
  } else {
    // They stay in the squares, which may also have overflowed.
    Vec<std::int64_t> bad = {};
    for (std::size_t k = 0; k < kLanes; k += kWidth<double>) {
      bad |= ~(load<Vec<double>>(sums.sum_squares + k) < __builtin_inf());
    }
    return !any_lane(bad);
  }
}

// Adds n elements. False, and nothing is added, if one is NaN or Inf or a square overflows.
template <FloatFormat F>
bool add_finite(const std::byte* p, std::size_t n, FloatExtremes<F>& extremes, Sums& sums) {
  const std::size_t whole = n - n % kLanes;
  const std::byte* last = p + whole * sizeof(typename F::Bits);
  if (any_bad<F>(last, n - whole)) return false;
  const FloatExtremes<F> extremes_before = extremes;
  const Sums sums_before = sums;
  add_steps<F, true>(p, whole, extremes, sums);
  if (!is_all_finite<F>(extremes, sums)) {
    extremes = extremes_before;
    sums = sums_before;
    return false;
  }
  if (whole != n) {
    add_extremes<F>(last, n - whole, extremes);
    add_last_sums<F>(last, n - whole, sums);
  }
  return true;
}

// Adds n elements whose NaN and Inf are zeros in finite_elements.
template <FloatFormat F>
void add_separated(const std::byte* p, const std::byte* finite_elements, std::size_t n,
                   FloatExtremes<F>& extremes, Sums& sums) {
  const std::size_t whole = n - n % kLanes;
  FloatExtremes<F> found;
  add_steps<F, true>(finite_elements, whole, found, sums);
  const std::size_t last = whole * sizeof(typename F::Bits);
  add_last_sums<F>(finite_elements + last, n - whole, sums);
  // Between elements of both signs the zeros are no extremes.
  if (any_lane(found.max > F::key(0)) && any_lane(found.min < F::key(0))) {
    extremes.max = found.max > extremes.max ? found.max : extremes.max;
    extremes.min = found.min < extremes.min ? found.min : extremes.min;
    add_extremes<F>(p + last, n - whole, extremes);
  } else {
    add_extremes<F>(p, n, extremes);
  }
}

// What the pieces before tell of the next.
enum class Expect {
  finite,
  few_bad,   // in less than half of the runs
  many_bad,  // to look for them run by run would cost more than it saves
};

// Adds n elements, a piece at most, NaN and Inf among them.
template <FloatFormat F>
Expect add_any(const std::byte* p, std::size_t n, Expect expect, FloatExtremes<F>& extremes,
               Sums& sums, BadCounts<F>& bad) {
  using Bits = typename F::Bits;
  constexpr std::size_t kFewRun = kRunBytes / sizeof(Bits);
  static_assert(kFewRun % kLanes == 0 && kFewRun % kWidth<Bits> == 0);
  alignas(64) std::byte finite_elements[kPieceBytes];
  const bool is_cut = expect != Expect::many_bad && n > kFewRun;
  const std::size_t run = is_cut ? kFewRun : n;
  std::size_t n_bad = 0;
  for (std::size_t first = 0; first < n; first += run) {
    const std::byte* at = p + first * sizeof(Bits);
    const std::size_t count = n - first < run ? n - first : run;
    if (is_cut && count == kFewRun && !any_bad<F>(at, kFewRun)) {
      add_steps<F, true>(at, kFewRun, extremes, sums);
      continue;
    }
    const Separated separated = separate_bad<F>(at, count, bad, finite_elements);
    if (separated.any_bad) ++n_bad;
    if (separated.any_nonzero) {
      add_separated<F>(at, finite_elements, count, extremes, sums);
    } else {
      add_extremes<F>(at, count, extremes);
    }
  }
  if (n_bad == 0) return Expect::finite;
  return 2 * n_bad * run < n ? Expect::few_bad : Expect::many_bad;
}

template <FloatFormat F>
std::int64_t find_bad(const std::byte* p, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    if (is_bad<F>(bits_at<F>(p, i))) return static_cast<std::int64_t>(i);
  }
  return -1;
}
