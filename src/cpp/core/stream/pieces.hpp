// A tensor, or two beside each other, piece by piece.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/stream/source.hpp"
#include "core/stream/stream_buffers.hpp"
#include "core/stream/strip.hpp"

namespace fastdump {

// Elements that are streamed together: those of one tensor (N = 1), or of two whose elements stand
// beside each other (N = 2).
template <std::size_t N>
struct Track {
  std::array<Strip, N> sides;
  std::uint64_t n_elements = 0;  // of each side

  // Of one element of the widest side.
  int max_bits() const { return std::ranges::max_element(sides, {}, &Strip::bits)->bits; }
  std::uint64_t nbytes(std::uint64_t n) const {
    std::uint64_t sum = 0;
    for (const Strip& side : sides) sum += side.nbytes(n);
    return sum;
  }
  bool is_gathered() const {
    return std::ranges::any_of(sides, [](const Strip& side) { return side.gathered != nullptr; });
  }
};

template <std::size_t N>
using Sources = std::array<std::shared_ptr<Source>, N>;

template <std::size_t N>
using Shortages = std::array<Shortage, N>;

// The elements [first, first + n) of a track.
template <std::size_t N>
struct Piece {
  std::array<const std::byte*, N> data;
  std::size_t n = 0;
  std::uint64_t first = 0;
};

// What becomes of the elements of a chunk.
template <std::size_t N>
class PieceVisitor {
 public:
  virtual ~PieceVisitor() = default;
  // Called before the first piece of a chunk; and again if what was visited since turns out not to
  // be the source's: then it is to be forgotten.
  virtual void begin_chunk() = 0;
  // Pieces come in order. `first` is a multiple of a block of every element type.
  virtual void visit(const Piece<N>& piece) = 0;
};

// The elements that are read, or gathered, at a time.
template <std::size_t N>
std::size_t piece_elements(const Track<N>& track);

template <std::size_t N>
struct LoadedPiece {
  Piece<N> piece;
  Shortages<N> missing;
};

// Reads elements [first, first + n), no more than piece_elements(). The piece has as many as all
// sides have, and stays until the next is read.
template <std::size_t N>
LoadedPiece<N> read_piece(const Sources<N>& sources, const Track<N>& track, std::uint64_t first,
                          std::size_t n, StreamBuffers& buffers);

// Reads elements [first, first + n) piece by piece, as many as there are.
template <std::size_t N>
Shortages<N> read_pieces(const Sources<N>& sources, const Track<N>& track, std::uint64_t first,
                         std::uint64_t n, StreamBuffers& buffers, PieceVisitor<N>& visitor);

// Visits elements [first, first + n), which are not gathered, where they are: in memory, or mapped.
// False if that is not possible, or if not all that was visited was the sources'.
template <std::size_t N>
bool view_pieces(const Sources<N>& sources, const Track<N>& track, std::uint64_t first,
                 std::uint64_t n, PieceVisitor<N>& visitor);

}  // namespace fastdump
