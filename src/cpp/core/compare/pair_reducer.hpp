// Adds up pairs of elements, piece by piece: what one thread keeps of a chunk.
#pragma once

#include <optional>

#include "core/stream/pieces.hpp"
#include "kernels/block.hpp"
#include "kernels/pair_divergence.hpp"
#include "kernels/pair_partial.hpp"

namespace fastdump {

// Two passes go over a pair of tensors: the first gives statistics, the second the divergence.
class PairReducer final : public PieceVisitor<2> {
 public:
  PairReducer(const kernels::Tier& tier, const kernels::Tolerance& tolerance)
      : tier_(tier), tolerance_(tolerance) {}

  // The pairs to come are of elements of these types. The pass is the second if there is a range,
  // which the first has found.
  void begin(kernels::Element a, kernels::Element b,
             const std::optional<kernels::DivergenceRange>& range) {
    a_ = a;
    b_ = b;
    range_ = range;
    begin_chunk();
  }
  void begin_chunk() override {
    if (range_) {
      divergence_.clear();
    } else {
      partial_.clear();
    }
  }
  void visit(const Piece<2>& piece) override {
    const kernels::PairOperands operands = {a_, b_, piece.data[0], piece.data[1]};
    if (range_) {
      divergence_.add(tier_, *range_, operands, piece.n);
    } else {
      partial_.add(tier_, tolerance_, operands, piece.n, piece.first);
    }
  }

  const kernels::PairPartial& partial() const { return partial_; }
  const kernels::PairDivergence& divergence() const { return divergence_; }

 private:
  const kernels::Tier& tier_;
  const kernels::Tolerance tolerance_;
  kernels::Element a_ = kernels::Element::none;
  kernels::Element b_ = kernels::Element::none;
  std::optional<kernels::DivergenceRange> range_;
  kernels::PairPartial partial_;
  kernels::PairDivergence divergence_;
};

}  // namespace fastdump
