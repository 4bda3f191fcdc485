// What the kernels ask of the types that they are made for. Included inside the tier's anonymous
// namespace by tier.inl.

// How the bits of a floating-point element are read.
template <class F>
concept FloatFormat = std::signed_integral<typename F::Bits> &&
                      requires(typename F::Bits bits, typename F::Key key, std::size_t i,
                               const std::byte* step, Vec<typename F::Bits> codes, Vec<double> x) {
                        // The lane of element i of a step of kLanes elements.
                        { F::lane(i) } -> std::same_as<std::size_t>;
                        // One element, and the lanes of register k of a step.
                        { F::value(bits) } -> std::same_as<double>;
                        { F::template values<0>(step) } -> std::same_as<Vec<double>>;
                        // acc + x * x
                        { F::add_square(x, x) } -> std::same_as<Vec<double>>;
                        // What extremes are compared by.
                        { F::key(bits) } -> std::same_as<typename F::Key>;
                        { F::key_value(key) } -> std::same_as<double>;
                        F::keys(codes);
                        // All bits but the sign; the code of +Inf, above which are those of NaN.
                        requires std::same_as<decltype(F::kMagnitude), const typename F::Bits>;
                        requires std::same_as<decltype(F::kInf), const typename F::Bits>;
                        // Codes, for the counts of level full.
                        requires std::same_as<decltype(F::kMinNormal), const typename F::Bits>;
                        requires std::same_as<decltype(F::kMaxFinite), const typename F::Bits>;
                        // The value of a code is what the format reads times 2^kExponent.
                        requires std::same_as<decltype(F::kExponent), const int>;
                        // No key is below or above.
                        requires std::same_as<decltype(F::kLowest), const typename F::Key>;
                        requires std::same_as<decltype(F::kHighest), const typename F::Key>;
                      };

// Makes packed codes of kBits, the first of which begins a byte, codes of another type. The last
// may end within a byte.
template <class D>
concept Decoder = requires(const std::byte* data, std::size_t n, std::byte* out) {
  requires std::same_as<decltype(D::kBits), const int>;
  { D::decode(data, n, out) } -> std::same_as<void>;
};

// Gives elements as a format reads them, a piece at a time: where they lie, or in a buffer.
template <class S>
concept PieceSource = requires(const std::byte* data, std::size_t n, std::byte* buffer) {
  requires std::same_as<decltype(S::kPieceElements), const std::size_t>;
  requires std::same_as<decltype(S::kBufferBytes), const std::size_t>;
  { S::piece(data, n, n, buffer) } -> std::same_as<const std::byte*>;
};

// A vector of elements of kBytes as float64.
template <class L>
concept LaneLoader = requires(const std::byte* p) {
  requires std::same_as<decltype(L::kBytes), const std::size_t>;
  { L::at(p) } -> std::same_as<Vec<double>>;
};

// Elements of four bits, of which a register looks up what each adds to a statistic.
template <class N>
concept NibbleFormat = requires(int code) {
  // The value times 2^-kExponent, a small integer.
  { N::whole(code) } -> std::same_as<int>;
  requires std::same_as<decltype(N::kExponent), const int>;
  // How many codes come before it in order.
  { N::rank(code) } -> std::same_as<int>;
  { N::saturated(code) } -> std::same_as<bool>;
  // Whole numbers from 1 to and with this one are subnormal.
  requires std::same_as<decltype(N::kSubnormalUntil), const int>;
  // An extreme.
  { N::number(code) } -> std::same_as<Number>;
};

#if defined(__AVX512VNNI__)
// Floats of eight bits with a sign, of which a register has 64.
template <class F>
concept ByteFloatFormat = requires(__m512i codes) {
  { F::finite(codes) } -> std::same_as<__mmask64>;
  { F::infinite(codes) } -> std::same_as<__mmask64>;
  // The code of a NaN.
  requires std::same_as<decltype(F::kNan), const std::int8_t>;
  // Magnitudes; subnormal are those from 1 to before the first.
  requires std::same_as<decltype(F::kFirstNormal), const int>;
  requires std::same_as<decltype(F::kMaxFinite), const int>;
};

// Those whose values are looked up, 128 at once.
template <class F>
concept LookedUpFormat = ByteFloatFormat<F> && requires(int magnitude) {
  // The upper 16 bits of a magnitude as float64, 0 of NaN and Inf.
  { F::top(magnitude) } -> std::same_as<std::uint16_t>;
  // How many magnitudes are smaller; whether that is not the magnitude itself.
  { F::rank(magnitude) } -> std::same_as<int>;
  requires std::same_as<decltype(F::kRanked), const bool>;
  // The rank from which on magnitudes are NaN or Inf; whether a negative zero is a NaN.
  requires std::same_as<decltype(F::kFirstBad), const std::int8_t>;
  requires std::same_as<decltype(F::kHidesNan), const bool>;
};
#endif
