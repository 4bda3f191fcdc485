// Pairs of tensors that exercise every kernel of a comparison: the same on every machine.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "corpus.hpp"
#include "kernels/pair_block.hpp"

namespace fastdump::tests {

struct PairSample {
  std::string_view name;
  std::vector<std::byte> a;
  std::vector<std::byte> b;
};

// Each sample of the corpus beside itself with some bits flipped, beside itself, and beside the
// next one.
inline std::vector<PairSample> make_pair_corpus() {
  const std::vector<Sample> corpus = make_corpus();
  Random random;
  std::vector<PairSample> pairs;
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    const Sample& sample = corpus[i];
    std::vector<std::byte> near = sample.bytes;
    for (std::size_t k = 0; k + 8 <= near.size(); k += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, near.data() + k, 8);
      word ^= random.next() & 0x0003000300030003;
      std::memcpy(near.data() + k, &word, 8);
    }
    pairs.push_back({sample.name, sample.bytes, near});
    pairs.push_back({sample.name, sample.bytes, sample.bytes});
    pairs.push_back({sample.name, sample.bytes, corpus[(i + 1) % corpus.size()].bytes});
  }
  return pairs;
}

// All types beside themselves, and some beside others.
inline std::vector<std::pair<kernels::Element, kernels::Element>> make_element_pairs() {
  using kernels::Element;
  std::vector<std::pair<Element, Element>> pairs;
  for (int e = 1; e < kernels::kElementCount; ++e) {
    pairs.emplace_back(static_cast<Element>(e), static_cast<Element>(e));
  }
  pairs.emplace_back(Element::float16, Element::float32);
  pairs.emplace_back(Element::float64, Element::bfloat16);
  pairs.emplace_back(Element::int32, Element::float32);
  pairs.emplace_back(Element::int64, Element::uint64);
  pairs.emplace_back(Element::float8_e4m3fn, Element::hifloat8);
  pairs.emplace_back(Element::uint1, Element::int4);
  pairs.emplace_back(Element::complex64, Element::float16);
  pairs.emplace_back(Element::boolean, Element::complex128);
  return pairs;
}

// Lengths about every boundary: nothing, a lane, a register, a piece, a block.
inline std::vector<std::size_t> make_pair_lengths(kernels::Element a, kernels::Element b) {
  constexpr std::size_t kBlock = kernels::kPairBlockElements;
  std::vector<std::size_t> lengths;
  for (std::size_t n = 0; n <= 17; ++n) lengths.push_back(n);
  for (const std::size_t n : {31U, 32U, 33U, 65U, 511U, 512U, 513U, 1029U}) lengths.push_back(n);
  for (const std::size_t n : {kBlock - 1, kBlock, kBlock + 1, 2 * kBlock + 35}) {
    lengths.push_back(n);
  }
  const auto bits = static_cast<std::size_t>(kernels::element_bits(a) > kernels::element_bits(b)
                                                 ? kernels::element_bits(a)
                                                 : kernels::element_bits(b));
  std::erase_if(lengths, [&](std::size_t n) { return n * bits > kCorpusBytes * 8; });
  return lengths;
}

}  // namespace fastdump::tests
