// What one thread needs to compare pairs of elements, and keeps between pieces of work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "core/compare/element_source.hpp"
#include "kernels/block.hpp"
#include "kernels/pair_divergence.hpp"
#include "kernels/pair_partial.hpp"

namespace fastdump {

// Pieces of both sides stay in the second-level cache until they are reduced. A whole number of
// blocks of the largest elements.
inline constexpr std::size_t kSideBufferBytes = std::size_t{128} << 10;

// What was asked for and not to be had.
struct Missing {
  MissingElements a;
  MissingElements b;

  bool any() const { return a.n != 0 || b.n != 0; }
  void add(const Missing& other) {
    a.add(other.a);
    b.add(other.b);
  }
};

// Where a format scatters what the host has together, more of what it has together is wanted at a
// time.
inline constexpr std::size_t kGatheredSideBytes = std::size_t{1} << 20;

// Two passes go over a pair of tensors: the first gives statistics, the second the divergence.
class PairWorker {
 public:
  PairWorker(const kernels::Tier& tier, const kernels::Tolerance& tolerance);

  // The pass to come: the second if there is a range, which the first has found.
  void begin(const std::optional<kernels::DivergenceRange>& range);
  // `first` is a multiple of a block.
  void reduce(const kernels::PairOperands& operands, std::size_t n, std::uint64_t first);
  // Pairs [first, first + n), mapped. False if the mappings do not hold them: they must be read.
  bool reduce_mapped(const ElementSource& a, const ElementSource& b, std::uint64_t first,
                     std::size_t n);
  // As many of them as both files have, a piece at a time.
  Missing reduce_read(const ElementSource& a, const ElementSource& b, std::uint64_t first,
                      std::size_t n);

  struct Loaded {
    kernels::PairOperands operands;
    std::size_t n;
    Missing missing;
  };
  // At most this many pairs fit the buffers.
  static std::size_t max_loaded(const ElementSource& a, const ElementSource& b);
  // `n` pairs from `first` on. Valid until the next are loaded.
  Loaded load(const ElementSource& a, const ElementSource& b, std::uint64_t first, std::size_t n);

  const kernels::PairPartial& partial() const { return partial_; }
  const kernels::PairDivergence& divergence() const { return divergence_; }

 private:
  void reserve(std::size_t side_nbytes);

  const kernels::Tier& tier_;
  const kernels::Tolerance tolerance_;
  std::optional<kernels::DivergenceRange> range_;
  kernels::PairPartial partial_;
  kernels::PairDivergence divergence_;
  // Of both sides, as many bytes of each as the pairs so far have needed at a time.
  std::unique_ptr<std::byte[]> storage_;
  std::size_t side_nbytes_ = 0;
  std::byte* buffers_ = nullptr;
};

}  // namespace fastdump
