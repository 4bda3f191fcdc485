#include "core/stream/pieces.hpp"

#include <cassert>
#include <optional>

namespace fastdump {
namespace {

// Four faults, for each of which Linux maps 16 pages. A multiple of a block of every element type.
constexpr std::size_t kTouchedBytes = std::size_t{256} << 10;
constexpr std::size_t kFaultBytes = std::size_t{64} << 10;

template <std::size_t N>
std::size_t elements_in(std::size_t nbytes, const Track<N>& track) {
  return nbytes * 8 / static_cast<std::size_t>(track.max_bits());
}

// Page faults in a row are faster than one by one, and what the kernels prefetch is mapped by then.
void touch(const std::byte* data, std::uint64_t begin, std::uint64_t end) {
  for (std::uint64_t at = begin; at < end; at += kFaultBytes) {
    // SAFETY: in a view, whose pages are guarded.
    static_cast<void>(*static_cast<const volatile std::byte*>(data + at));
  }
}

}  // namespace

template <std::size_t N>
std::size_t piece_elements(const Track<N>& track) {
  return elements_in(track.is_gathered() ? kGatheredPieceNbytes : kPieceNbytes / N, track);
}

template <std::size_t N>
LoadedPiece<N> read_piece(const Sources<N>& sources, const Track<N>& track, std::uint64_t first,
                          std::size_t n, StreamBuffers& buffers) {
  assert(n <= piece_elements(track));
  LoadedPiece<N> loaded;
  loaded.piece.first = first;
  loaded.piece.n = n;
  for (std::size_t i = 0; i < N; ++i) {
    const auto buffer = track.is_gathered() ? buffers.gathered_side(i, N) : buffers.side(i, N);
    const ReadElements read = read_elements(*sources[i], track.sides[i], first, n, buffer);
    loaded.piece.data[i] = read.data;
    loaded.piece.n = std::min(loaded.piece.n, read.n);
    loaded.missing[i] = {n - read.n, read.error};
  }
  return loaded;
}

template <std::size_t N>
Shortages<N> read_pieces(const Sources<N>& sources, const Track<N>& track, std::uint64_t first,
                         std::uint64_t n, StreamBuffers& buffers, PieceVisitor<N>& visitor) {
  const std::size_t whole = piece_elements(track);
  Shortages<N> missing;
  for (std::uint64_t done = 0; done < n; done += whole) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(n - done, whole));
    const LoadedPiece<N> loaded = read_piece(sources, track, first + done, count, buffers);
    if (loaded.piece.n != 0) visitor.visit(loaded.piece);
    bool is_all_gone = true;
    for (std::size_t i = 0; i < N; ++i) {
      missing[i].add(loaded.missing[i]);
      is_all_gone &= loaded.missing[i].n != 0;
    }
    if (!is_all_gone) continue;
    // The rest is not tried: a device that fails takes its time.
    for (Shortage& side : missing) side.n += n - done - count;
    break;
  }
  return missing;
}

template <std::size_t N>
bool view_pieces(const Sources<N>& sources, const Track<N>& track, std::uint64_t first,
                 std::uint64_t n, PieceVisitor<N>& visitor) {
  std::array<std::optional<View>, N> views;
  std::array<std::uint64_t, N> nbytes;
  Piece<N> piece;
  bool is_memory = true;
  for (std::size_t i = 0; i < N; ++i) {
    const Strip& side = track.sides[i];
    nbytes[i] = side.nbytes(n);
    views[i].emplace(*sources[i], side.offset_of(first), nbytes[i]);
    if (views[i]->data() == nullptr) return false;
    is_memory &= sources[i]->is_memory();
  }
  const auto whole = is_memory ? n : std::uint64_t{elements_in(kTouchedBytes, track)};
  // Each piece is touched before the one ahead of it is visited.
  const auto touch_piece = [&](std::uint64_t begin) {
    for (std::size_t i = 0; i < N && !is_memory; ++i) {
      touch(views[i]->data(), std::min(track.sides[i].nbytes(begin), nbytes[i]),
            std::min(track.sides[i].nbytes(begin + whole), nbytes[i]));
    }
  };
  touch_piece(0);
  for (std::uint64_t done = 0; done < n; done += whole) {
    touch_piece(done + whole);
    piece.first = first + done;
    piece.n = static_cast<std::size_t>(std::min(n - done, whole));
    for (std::size_t i = 0; i < N; ++i) {
      piece.data[i] = views[i]->data() + track.sides[i].nbytes(done);
    }
    visitor.visit(piece);
  }
  bool is_whole = true;
  for (std::optional<View>& view : views) is_whole &= view->close();
  return is_whole;
}

template std::size_t piece_elements(const Track<1>&);
template std::size_t piece_elements(const Track<2>&);
template LoadedPiece<1> read_piece(const Sources<1>&, const Track<1>&, std::uint64_t, std::size_t,
                                   StreamBuffers&);
template LoadedPiece<2> read_piece(const Sources<2>&, const Track<2>&, std::uint64_t, std::size_t,
                                   StreamBuffers&);
template Shortages<1> read_pieces(const Sources<1>&, const Track<1>&, std::uint64_t, std::uint64_t,
                                  StreamBuffers&, PieceVisitor<1>&);
template Shortages<2> read_pieces(const Sources<2>&, const Track<2>&, std::uint64_t, std::uint64_t,
                                  StreamBuffers&, PieceVisitor<2>&);
template bool view_pieces(const Sources<1>&, const Track<1>&, std::uint64_t, std::uint64_t,
                          PieceVisitor<1>&);
template bool view_pieces(const Sources<2>&, const Track<2>&, std::uint64_t, std::uint64_t,
                          PieceVisitor<2>&);

}  // namespace fastdump
