// Blocks of elements of four bits, two in a byte, where a register looks up bytes in a table of
// sixteen. What an element adds to a statistic is a byte of a table, and sums of bytes are exact.
// Included inside the tier's anonymous namespace by tier.inl.

struct Int4Nibbles {
  static constexpr int kExponent = 0;
  static constexpr int kSubnormalUntil = 0;
  static constexpr int whole(int code) { return (code ^ 8) - 8; }
  static constexpr int rank(int code) { return code ^ 8; }
  static constexpr bool saturated(int code) { return code == 7 || code == 8; }
  static constexpr Number number(int code) { return {.i64 = whole(code)}; }
};

// A sign, and three bits of which kMagnitudes has the whole numbers.
template <class Magnitudes>
struct Float4Nibbles : Magnitudes {
  using Magnitudes::kExponent;
  using Magnitudes::kMagnitudes;
  static constexpr int whole(int code) {
    return code < 8 ? kMagnitudes[code] : -kMagnitudes[code - 8];
  }
  static constexpr int rank(int code) { return code < 8 ? 8 + code : 15 - code; }
  static constexpr bool saturated(int code) { return code % 8 == 7; }
  static constexpr Number number(int code) {
    const double magnitude = kMagnitudes[code % 8] * power_of_two(kExponent);
    return {.f64 = code < 8 ? magnitude : -magnitude};
  }
};

struct E2m1Magnitudes {
  static constexpr int kExponent = -1;
  static constexpr int kSubnormalUntil = 1;
  static constexpr int kMagnitudes[] = {0, 1, 2, 3, 4, 6, 8, 12};
};

struct E1m2Magnitudes {
  static constexpr int kExponent = -2;
  static constexpr int kSubnormalUntil = 3;
  static constexpr int kMagnitudes[] = {0, 1, 2, 3, 4, 5, 6, 7};
};

using E2m1Nibbles = Float4Nibbles<E2m1Magnitudes>;
using E1m2Nibbles = Float4Nibbles<E1m2Magnitudes>;

// Added to whole numbers to make them positive.
inline constexpr int kWholeOffset = 16;

inline constexpr std::uint8_t kNoMagnitude = 255;

template <NibbleFormat N>
struct NibbleTables {
  struct alignas(16) Table {
    std::uint8_t bytes[16] = {};
  };
  Table whole, square, rank, zero, subnormal, saturated;
  Table magnitude;  // that of 0 is the largest of all
  Number of_rank[16] = {};
  int largest_square = 0;

  constexpr NibbleTables() {
    for (int code = 0; code < 16; ++code) {
      const int w = N::whole(code);
      const int absolute = w < 0 ? -w : w;
      whole.bytes[code] = static_cast<std::uint8_t>(w + kWholeOffset);
      square.bytes[code] = static_cast<std::uint8_t>(w * w);
      rank.bytes[code] = static_cast<std::uint8_t>(N::rank(code));
      zero.bytes[code] = w == 0;
      subnormal.bytes[code] = w != 0 && absolute <= N::kSubnormalUntil;
      saturated.bytes[code] = N::saturated(code);
      magnitude.bytes[code] = static_cast<std::uint8_t>(w == 0 ? kNoMagnitude : absolute);
      of_rank[N::rank(code)] = N::number(code);
      largest_square = w * w > largest_square ? w * w : largest_square;
    }
  }
};

template <NibbleFormat N>
inline constexpr NibbleTables<N> kNibbleTables;

// Sums of what a table has for the elements.
struct NibbleSum {
  const std::uint8_t* table;
  Vec<std::uint64_t> lanes = {};
  std::uint64_t rest = 0;

  // Adds the elements of a register, whose low and high nibbles these are. With kTogether two bytes
  // of the table add up to a byte.
  template <bool kTogether>
  void add(Vec<std::uint8_t> low, Vec<std::uint8_t> high) {
    const auto from_low = look_up(table, low);
    const auto from_high = look_up(table, high);
    if constexpr (kTogether) {
      lanes = add_bytes(lanes, from_low + from_high);
    } else {
      lanes = add_bytes(add_bytes(lanes, from_low), from_high);
    }
  }
  void add_one(int code) { rest += table[code]; }
  std::uint64_t total() const {
    return rest + static_cast<std::uint64_t>(sum_lanes<std::uint64_t>(lanes));
  }
};

template <NibbleFormat N, Level kLevel>
void reduce_nibbles(const std::byte* data, std::size_t n, Block& block) {
  constexpr const NibbleTables<N>& kTables = kNibbleTables<N>;
  constexpr bool kSquaresTogether = 2 * kTables.largest_square < 256;
  NibbleSum whole{kTables.whole.bytes};
  NibbleSum squares{kTables.square.bytes};
  NibbleSum zero{kTables.zero.bytes};
  NibbleSum subnormal{kTables.subnormal.bytes};
  NibbleSum saturated{kTables.saturated.bytes};
  Vec<std::uint8_t> max = {};
  Vec<std::uint8_t> min = broadcast<std::uint8_t>(15);
  Vec<std::uint8_t> least = broadcast(kNoMagnitude);
  const std::size_t n_whole = n / 2 - n / 2 % kVectorBytes;
  for (std::size_t i = 0; i < n_whole; i += kVectorBytes) {
    prefetch_ahead(data + i, kVectorBytes);
    const auto bytes = load<Vec<std::uint8_t>>(data + i);
    const auto low = bytes & 15;
    const auto high = (Vec<std::uint8_t>)((Vec<std::uint16_t>)bytes >> 4) & 15;
    whole.add<true>(low, high);
    squares.add<kSquaresTogether>(low, high);
    for (const auto ranks : {look_up(kTables.rank.bytes, low), look_up(kTables.rank.bytes, high)}) {
      max = ranks > max ? ranks : max;
      min = ranks < min ? ranks : min;
    }
    if constexpr (kLevel == Level::full) {
      zero.add<true>(low, high);
      subnormal.add<true>(low, high);
      saturated.add<true>(low, high);
      for (const auto nibbles : {low, high}) {
        const auto magnitudes = look_up(kTables.magnitude.bytes, nibbles);
        least = magnitudes < least ? magnitudes : least;
      }
    }
  }
  std::uint8_t highest = max_lane<std::uint8_t>(max);
  std::uint8_t lowest = min_lane<std::uint8_t>(min);
  std::uint8_t smallest = min_lane<std::uint8_t>(least);
  for (std::size_t i = 2 * n_whole; i < n; ++i) {
    const int code = static_cast<int>(data[i / 2]) >> (i % 2 * 4) & 15;
    for (NibbleSum* sum : {&whole, &squares, &zero, &subnormal, &saturated}) sum->add_one(code);
    const std::uint8_t rank = kTables.rank.bytes[code];
    highest = rank > highest ? rank : highest;
    lowest = rank < lowest ? rank : lowest;
    const std::uint8_t magnitude = kTables.magnitude.bytes[code];
    smallest = magnitude < smallest ? magnitude : smallest;
  }
  clear_counts(block);
  clear_moments(block);
  const auto offsets = static_cast<std::int64_t>(n) * kWholeOffset;
  block.sum[0] = static_cast<double>(static_cast<std::int64_t>(whole.total()) - offsets);
  block.sum_squares[0] = static_cast<double>(squares.total());
  block.sum_exponent = N::kExponent;
  block.squares_exponent = 2 * N::kExponent;
  block.max = kTables.of_rank[highest];
  block.min = kTables.of_rank[lowest];
  if constexpr (kLevel == Level::full) {
    block.zero = zero.total();
    block.subnormal = subnormal.total();
    block.saturated = saturated.total();
    if (smallest != kNoMagnitude) block.min_abs = smallest * power_of_two(N::kExponent);
  }
}
