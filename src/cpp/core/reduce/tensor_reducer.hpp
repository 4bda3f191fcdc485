// Adds up the elements of a tensor, piece by piece: what one thread keeps of a chunk.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/stream/pieces.hpp"
#include "kernels/block.hpp"
#include "kernels/partial.hpp"

namespace fastdump {

class TensorReducer final : public PieceVisitor<1> {
 public:
  TensorReducer(const kernels::Tier& tier, kernels::Level level) : tier_(tier), level_(level) {}

  // The elements to come are of this type.
  void begin(kernels::Element element) {
    element_ = element;
    partial_.clear();
  }
  void begin_chunk() override { partial_.clear(); }
  void visit(const Piece<1>& piece) override { add(piece.data[0], piece.n, piece.first); }
  // Elements [first, first + n) of the tensor.
  void add(const std::byte* data, std::size_t n, std::uint64_t first) {
    partial_.add(tier_, element_, level_, data, n, first);
  }

  const kernels::Partial& partial() const { return partial_; }
  kernels::Statistics finish() const { return partial_.finish(level_, element_); }

  kernels::Level level() const { return level_; }
  // Whether statistics of this type need its bytes at all.
  bool needs_bytes(kernels::Element element) const {
    return tier_.reduce[static_cast<int>(element)][static_cast<int>(level_)] != nullptr;
  }

 private:
  const kernels::Tier& tier_;
  const kernels::Level level_;
  kernels::Element element_ = kernels::Element::none;
  kernels::Partial partial_;
};

}  // namespace fastdump
