// Floating-point elements, a piece at a time that stays in the first-level cache, and a register of
// a piece at a time. Included inside the tier's anonymous namespace by tier.inl.

inline constexpr std::size_t kPieceBytes = 8192;

// Elements that lie in memory as F reads them.
template <class F>
struct Direct {
  static constexpr std::size_t kPieceElements = kPieceBytes / sizeof(typename F::Bits);
  static constexpr std::size_t kBufferBytes = 1;
  static const std::byte* piece(const std::byte* data, std::size_t first, std::size_t, std::byte*) {
    return data + first * sizeof(typename F::Bits);
  }
};

// Elements that D turns into F's codes in a buffer.
template <class F, Decoder D>
struct Decoded {
  static constexpr std::size_t kPieceElements = kPieceBytes / sizeof(typename F::Bits);
  static constexpr std::size_t kBufferBytes = kPieceBytes;
  static const std::byte* piece(const std::byte* data, std::size_t first, std::size_t n,
                                std::byte* buffer) {
    D::decode(data + first * D::kBits / 8, n, buffer);
    return buffer;
  }
};

template <PieceSource Source, class Visit>
inline void for_each_piece(const std::byte* data, std::size_t n, Visit visit) {
  alignas(64) std::byte buffer[Source::kBufferBytes];
  for (std::size_t first = 0; first < n; first += Source::kPieceElements) {
    const std::size_t count =
        n - first < Source::kPieceElements ? n - first : Source::kPieceElements;
    visit(Source::piece(data, first, count, buffer), count, first);
  }
}

// Calls visit(register, first) for all of n elements, the last register filled up with `filler`.
template <FloatFormat F, class Visit>
inline void for_each_register(const std::byte* p, std::size_t n, typename F::Bits filler,
                              Visit visit) {
  using Bits = typename F::Bits;
  const std::size_t whole = n - n % kWidth<Bits>;
  for (std::size_t i = 0; i < whole; i += kWidth<Bits>) {
    visit(load<Vec<Bits>>(p + i * sizeof(Bits)), i);
  }
  if (whole == n) return;
  Bits last[kWidth<Bits>];
  for (Bits& bits : last) bits = filler;
  std::memcpy(last, p + whole * sizeof(Bits), (n - whole) * sizeof(Bits));
  visit(load<Vec<Bits>>(last), whole);
}

template <FloatFormat F>
constexpr std::size_t fillers_of(std::size_t n) {
  constexpr std::size_t kLaneCount = kWidth<typename F::Bits>;
  return (kLaneCount - n % kLaneCount) % kLaneCount;
}
