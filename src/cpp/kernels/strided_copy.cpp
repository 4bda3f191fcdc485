#include "kernels/strided_copy.hpp"

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace fastdump::kernels {
namespace {

// So many bytes that lie together in `to` are finished before others are begun: lines of the cache
// are then written once and whole, whatever the distance of the next ones; more of what no cache
// keeps, which lies in more pages than a CPU knows at a time ...
constexpr std::size_t kRunToBytes = 256;
constexpr std::size_t kFarRunToBytes = 512;
// ... and so many that lie together in `from` are read before others: they are fetched ahead, and
// few pages are in use at a time.
constexpr std::size_t kRunFromBytes = std::size_t{16} << 10;
// Where a tile is transposed, its rows in `from` are read from as many places at once, and its
// columns begin and end within lines of `to`: those of fewer tiles still are in the first-level
// cache when their neighbours complete them.
constexpr std::size_t kTilesFromBytes = std::size_t{1} << 10;

// Processors do not fetch ahead beyond a page by themselves. Of a tile's rows that follow each
// other in `from`, so many bytes ahead are asked for; of others, which lie in pages of their own,
// those of the next tile.
constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kNearAhead = 8192;

constexpr std::size_t kLineBytes = 64;
constexpr std::size_t kRegisterBytes = 16;

inline bool is_aligned(const std::byte* p) {
  return reinterpret_cast<std::uintptr_t>(p) % kRegisterBytes == 0;
}

// Registers of 16 bytes, which every CPU has: wider ones would not make memory faster.
#if defined(__x86_64__)

using Register = __m128i;

inline Register low_halves(Register a, Register b, std::uint8_t) { return _mm_unpacklo_epi8(a, b); }
inline Register low_halves(Register a, Register b, std::uint16_t) {
  return _mm_unpacklo_epi16(a, b);
}
inline Register low_halves(Register a, Register b, std::uint32_t) {
  return _mm_unpacklo_epi32(a, b);
}
inline Register low_halves(Register a, Register b, std::uint64_t) {
  return _mm_unpacklo_epi64(a, b);
}
inline Register high_halves(Register a, Register b, std::uint8_t) {
  return _mm_unpackhi_epi8(a, b);
}
inline Register high_halves(Register a, Register b, std::uint16_t) {
  return _mm_unpackhi_epi16(a, b);
}
inline Register high_halves(Register a, Register b, std::uint32_t) {
  return _mm_unpackhi_epi32(a, b);
}
inline Register high_halves(Register a, Register b, std::uint64_t) {
  return _mm_unpackhi_epi64(a, b);
}

// A line that is streamed whole is not read before it is written, which saves a third of the
// traffic. One whose parts are streamed one by one, others between them, takes up to ten times as
// long as one that is not streamed.
template <Destination kDestination>
inline void store(std::byte* to, Register value) {
  if constexpr (kDestination == Destination::streamed) {
    if (is_aligned(to)) {
      // SAFETY: aligned as the instruction asks.
      _mm_stream_si128(reinterpret_cast<Register*>(to), value);
      return;
    }
  }
  std::memcpy(to, &value, sizeof value);
}

// Streamed stores become visible in no order, unlike all others.
inline void finish(Destination destination) {
  if (destination == Destination::streamed) _mm_sfence();
}

#elif defined(__aarch64__)

using Register = uint8x16_t;

inline Register low_halves(Register a, Register b, std::uint8_t) { return vzip1q_u8(a, b); }
inline Register low_halves(Register a, Register b, std::uint16_t) {
  return (Register)vzip1q_u16((uint16x8_t)a, (uint16x8_t)b);
}
inline Register low_halves(Register a, Register b, std::uint32_t) {
  return (Register)vzip1q_u32((uint32x4_t)a, (uint32x4_t)b);
}
inline Register low_halves(Register a, Register b, std::uint64_t) {
  return (Register)vzip1q_u64((uint64x2_t)a, (uint64x2_t)b);
}
inline Register high_halves(Register a, Register b, std::uint8_t) { return vzip2q_u8(a, b); }
inline Register high_halves(Register a, Register b, std::uint16_t) {
  return (Register)vzip2q_u16((uint16x8_t)a, (uint16x8_t)b);
}
inline Register high_halves(Register a, Register b, std::uint32_t) {
  return (Register)vzip2q_u32((uint32x4_t)a, (uint32x4_t)b);
}
inline Register high_halves(Register a, Register b, std::uint64_t) {
  return (Register)vzip2q_u64((uint64x2_t)a, (uint64x2_t)b);
}

// These CPUs find out by themselves that a line will be overwritten.
template <Destination kDestination>
inline void store(std::byte* to, Register value) {
  std::memcpy(to, &value, sizeof value);
}

inline void finish(Destination) {}

#endif

inline Register load(const std::byte* from) {
  Register value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// Beyond the end it asks for nothing.
inline void prefetch(const std::byte* from) { __builtin_prefetch(from, 0, 2); }

template <class T>
inline void copy_element(const std::byte* from, std::byte* to) {
  T element;
  std::memcpy(&element, from, sizeof element);
  std::memcpy(to, &element, sizeof element);
}

inline std::size_t at_least_one(std::size_t n) { return n == 0 ? 1 : n; }

// What is left to loop over: strides in bytes, by ascending distance in `to`, no length of 1, and
// no two dimensions that are one on both sides.
class Box {
 public:
  void add(CopyDim dim) {
    if (dim.n == 1) return;
    int i = n_dims_++;
    for (; i > 0 && dims_[i - 1].to > dim.to; --i) dims_[i] = dims_[i - 1];
    dims_[i] = dim;
  }

  void merge() {
    int n = 0;
    for (int i = 0; i < n_dims_; ++i) {
      CopyDim& last = dims_[n == 0 ? 0 : n - 1];
      if (n > 0 && dims_[i].from == last.from * last.n && dims_[i].to == last.to * last.n) {
        last.n *= dims_[i].n;
      } else {
        dims_[n++] = dims_[i];
      }
    }
    n_dims_ = n;
  }

  CopyDim take(int i) {
    const CopyDim dim = dims_[i];
    --n_dims_;
    for (; i < n_dims_; ++i) dims_[i] = dims_[i + 1];
    return dim;
  }

  // The dimension in which elements are so far apart in `from`; -1: none.
  int find_from(std::size_t nbytes) const {
    for (int i = 0; i < n_dims_; ++i) {
      if (dims_[i].from == nbytes) return i;
    }
    return -1;
  }

  // The dimension in which elements are least far apart in `from`.
  int nearest_from() const {
    int nearest = 0;
    for (int i = 1; i < n_dims_; ++i) {
      if (dims_[i].from < dims_[nearest].from) nearest = i;
    }
    return nearest;
  }

  // Whether all places are as well aligned in `to` as the first.
  bool is_aligned() const {
    for (int i = 0; i < n_dims_; ++i) {
      if (dims_[i].to % kRegisterBytes != 0) return false;
    }
    return true;
  }

  int n_dims() const { return n_dims_; }
  const CopyDim& operator[](int i) const { return dims_[i]; }

 private:
  CopyDim dims_[kMaxCopyDims + 1];  // one more for the bytes of an element
  int n_dims_ = 0;
};

// Calls copy(from, to, ahead) for every place of the box; in blocks of n_to places that are next to
// each other in `to` by n_from that are next to each other in `from`. `ahead` is how far from
// `from` the place lies that has the same position in the next block.
template <class Copy>
void for_each_place(const std::byte* from, std::byte* to, Box box, std::size_t n_to,
                    std::size_t n_from, const Copy& copy) {
  CopyDim columns = {1, 0, 0};
  CopyDim rows = {1, 0, 0};
  if (box.n_dims() > 0) {
    if (box.nearest_from() != 0) rows = box.take(box.nearest_from());
    columns = box.take(0);
  }
  const auto copy_plane = [&] {
    for (std::size_t row = 0; row < rows.n; row += n_from) {
      const std::size_t end_row = rows.n - row < n_from ? rows.n : row + n_from;
      for (std::size_t column = 0; column < columns.n; column += n_to) {
        const std::size_t end_column = columns.n - column < n_to ? columns.n : column + n_to;
        for (std::size_t i = row; i < end_row; ++i) {
          for (std::size_t j = column; j < end_column; ++j) {
            copy(from + i * rows.from + j * columns.from, to + i * rows.to + j * columns.to,
                 n_to * columns.from);
          }
        }
      }
    }
  };
  std::size_t index[kMaxCopyDims] = {};
  while (true) {
    copy_plane();
    int i = 0;
    for (; i < box.n_dims(); ++i) {
      from += box[i].from;
      to += box[i].to;
      if (++index[i] < box[i].n) break;
      index[i] = 0;
      from -= box[i].n * box[i].from;
      to -= box[i].n * box[i].to;
    }
    if (i == box.n_dims()) return;
  }
}

// ---- runs: elements lie together on both sides

template <Destination kDestination, std::size_t kNbytes>
void copy_runs_of(const std::byte* from, std::byte* to, const Box& box, std::size_t to_nbytes) {
  for_each_place(from, to, box, to_nbytes / kNbytes, kRunFromBytes / kNbytes,
                 [](const std::byte* run, std::byte* out, std::size_t ahead) {
                   prefetch(run + ahead);
                   for (std::size_t i = 0; i < kNbytes; i += kRegisterBytes) {
                     store<kDestination>(out + i, load(run + i));
                   }
                 });
}

template <Destination kDestination>
void copy_runs(const std::byte* from, std::byte* to, const Box& box, std::size_t nbytes,
               std::size_t to_nbytes) {
  switch (nbytes) {
    case 16:
      return copy_runs_of<kDestination, 16>(from, to, box, to_nbytes);
    case 32:
      return copy_runs_of<kDestination, 32>(from, to, box, to_nbytes);
    case 64:
      return copy_runs_of<kDestination, 64>(from, to, box, to_nbytes);
    case 128:
      return copy_runs_of<kDestination, 128>(from, to, box, to_nbytes);
    default:
      for_each_place(from, to, box, at_least_one(to_nbytes / nbytes),
                     at_least_one(kRunFromBytes / nbytes),
                     [=](const std::byte* run, std::byte* out, std::size_t) {
                       std::memcpy(out, run, nbytes);
                     });
  }
}

// ---- transposed: other elements lie together in `from` than in `to`

// A square of as many elements as a register holds. To interleave the first half of its rows with
// the second is one step of a perfect shuffle; as many steps as there are bits in the number of
// rows transpose it.
template <class T>
inline void transpose_square(const std::byte* from, std::size_t row_from, std::byte* to,
                             std::size_t row_to) {
  constexpr std::size_t kN = kRegisterBytes / sizeof(T);
  Register rows[kN];
  Register shuffled[kN];
  for (std::size_t i = 0; i < kN; ++i) rows[i] = load(from + i * row_from);
  for (std::size_t step = 1; step < kN; step *= 2) {
    for (std::size_t i = 0; i < kN / 2; ++i) {
      shuffled[2 * i] = low_halves(rows[i], rows[i + kN / 2], T{});
      shuffled[2 * i + 1] = high_halves(rows[i], rows[i + kN / 2], T{});
    }
    for (std::size_t i = 0; i < kN; ++i) rows[i] = shuffled[i];
  }
  for (std::size_t i = 0; i < kN; ++i) store<Destination::cached>(to + i * row_to, rows[i]);
}

// Asks for the first element of each row of a square that is transposed later.
template <std::size_t kN>
inline void prefetch_square(const std::byte* from, std::size_t row_from) {
  for (std::size_t i = 0; i < kN; ++i) prefetch(from + i * row_from);
}

// As many rows as a line of `to` has elements; lines begin with the first in all columns. Those of
// a square's columns are put together before they are streamed, each at once.
template <class T>
void transpose_lines(const std::byte* from, std::byte* to, CopyDim rows, CopyDim columns,
                     std::size_t ahead) {
  constexpr std::size_t kN = kRegisterBytes / sizeof(T);
  alignas(kLineBytes) std::byte lines[kN * kLineBytes];
  for (std::size_t j = 0; j < columns.n; j += kN) {
    // The last square overlaps the one before it: rather than a smaller one, the same again.
    const std::size_t column = columns.n - j < kN ? columns.n - kN : j;
    for (std::size_t i = 0; i < kLineBytes / sizeof(T); i += kN) {
      const std::byte* square = from + i * rows.from + column * columns.from;
      if (j == 0) prefetch_square<kN>(square + ahead, rows.from);
      transpose_square<T>(square, rows.from, lines + i * sizeof(T), kLineBytes);
    }
    for (std::size_t i = 0; i < kN; ++i) {
      std::byte* line = to + (column + i) * columns.to;
      for (std::size_t k = 0; k < kLineBytes; k += kRegisterBytes) {
        store<Destination::streamed>(line + k, load(lines + i * kLineBytes + k));
      }
    }
  }
}

// `rows` lie together in `to`, `columns` in `from`; `ahead` of them lies what is transposed later.
template <class T, Destination kDestination>
void transpose(const std::byte* from, std::byte* to, CopyDim rows, CopyDim columns,
               std::size_t ahead) {
  constexpr std::size_t kN = kRegisterBytes / sizeof(T);
  if (rows.n < kN || columns.n < kN) {
    for (std::size_t j = 0; j < columns.n; ++j) {
      for (std::size_t i = 0; i < rows.n; ++i) {
        copy_element<T>(from + i * rows.from + j * columns.from, to + i * rows.to + j * columns.to);
      }
    }
    return;
  }
  // Strips of rows end where lines of `to` do, if they do so at the same row in all columns. Lines
  // that are not streamed profit from more of them in a row, which are fetched ahead.
  constexpr bool kStreams = kDestination == Destination::streamed;
  constexpr std::size_t kStripBytes = kStreams ? kLineBytes : 8 * kLineBytes;
  const std::size_t behind_line = reinterpret_cast<std::uintptr_t>(to) % kLineBytes;
  std::size_t end = (kLineBytes - behind_line + kStripBytes) / sizeof(T);
  for (std::size_t begin = 0; begin < rows.n; begin = end, end += kStripBytes / sizeof(T)) {
    if (end > rows.n) end = rows.n;
    if (kStreams && begin != 0 && (end - begin) * sizeof(T) == kLineBytes) {
      transpose_lines<T>(from + begin * rows.from, to + begin * rows.to, rows, columns, ahead);
      continue;
    }
    for (std::size_t j = 0; j < columns.n; j += kN) {
      // The last square overlaps the one before it, as in transpose_lines.
      const std::size_t column = columns.n - j < kN ? columns.n - kN : j;
      for (std::size_t i = begin; i < end; i += kN) {
        const std::size_t row = rows.n - i < kN ? rows.n - kN : i;
        const std::byte* square = from + row * rows.from + column * columns.from;
        if (j == 0) prefetch_square<kN>(square + ahead, rows.from);
        transpose_square<T>(square, rows.from, to + row * rows.to + column * columns.to,
                            columns.to);
      }
    }
  }
}

template <class T, Destination kDestination>
void copy_transposed(const std::byte* from, std::byte* to, const Box& box, CopyDim rows,
                     CopyDim columns) {
  const std::size_t n_to = at_least_one(kRunToBytes / sizeof(T) / rows.n / columns.n);
  const std::size_t n_from = at_least_one(kTilesFromBytes / sizeof(T) / columns.n);
  const bool is_near = rows.from < kPageBytes;
  for_each_place(
      from, to, box, n_to, n_from, [=](const std::byte* tile, std::byte* out, std::size_t ahead) {
        transpose<T, kDestination>(tile, out, rows, columns, is_near ? kNearAhead : ahead);
      });
}

// ---- scattered: in `from`, or in `to`, no elements lie together

template <class T>
void copy_scattered(const std::byte* from, std::byte* to, const Box& box, CopyDim line) {
  for_each_place(from, to, box, 1, 1, [=](const std::byte* start, std::byte* out, std::size_t) {
    for (std::size_t i = 0; i < line.n; ++i) {
      copy_element<T>(start + i * line.from, out + i * line.to);
    }
  });
}

template <class T>
void copy_box(const std::byte* from, std::byte* to, Box box, Destination destination) {
  if (box.n_dims() == 0) {
    copy_element<T>(from, to);
    return;
  }
  const CopyDim nearest = box.take(0);
  const int nearest_from = box.find_from(sizeof(T));
  if (nearest.to != sizeof(T) || (nearest.from != sizeof(T) && nearest_from < 0)) {
    copy_scattered<T>(from, to, box, nearest);
    return;
  }
  bool streamed = destination == Destination::streamed && is_aligned(to) && box.is_aligned();
  if (nearest.from == sizeof(T)) {
    const std::size_t nbytes = nearest.n * sizeof(T);
    const bool is_far = destination == Destination::streamed;
    const std::size_t to_nbytes = is_far ? kFarRunToBytes : kRunToBytes;
    if (streamed) {
      copy_runs<Destination::streamed>(from, to, box, nbytes, to_nbytes);
    } else {
      copy_runs<Destination::cached>(from, to, box, nbytes, to_nbytes);
    }
    return;
  }
  const CopyDim columns = box.take(nearest_from);
  // Whole lines, that is, which begin at the same row in all columns.
  streamed &= columns.to % kLineBytes == 0 && nearest.n * sizeof(T) >= kRunToBytes;
  if (streamed) {
    copy_transposed<T, Destination::streamed>(from, to, box, nearest, columns);
  } else {
    copy_transposed<T, Destination::cached>(from, to, box, nearest, columns);
  }
}

}  // namespace

void copy_strided(const std::byte* from, std::byte* to, const CopyDim* dims, int n_dims,
                  std::size_t element_nbytes, Destination destination) {
  Box box;
  for (int i = 0; i < n_dims; ++i) {
    if (dims[i].n == 0) return;
    box.add({dims[i].n, dims[i].from * element_nbytes, dims[i].to * element_nbytes});
  }
  switch (element_nbytes) {
    case 1:
    case 2:
    case 4:
    case 8:
      break;
    default:
      box.add({element_nbytes, 1, 1});  // a run of bytes
  }
  box.merge();
  switch (element_nbytes) {
    case 2:
      copy_box<std::uint16_t>(from, to, box, destination);
      break;
    case 4:
      copy_box<std::uint32_t>(from, to, box, destination);
      break;
    case 8:
      copy_box<std::uint64_t>(from, to, box, destination);
      break;
    default:
      copy_box<std::uint8_t>(from, to, box, destination);
  }
  finish(destination);
}

}  // namespace fastdump::kernels
