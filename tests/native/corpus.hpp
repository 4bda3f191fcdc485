// Bytes that exercise every kernel: the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "kernels/block.hpp"

namespace fastdump::tests {

struct Sample {
  std::string_view name;
  std::vector<std::byte> bytes;
};

// A linear congruential generator: the same numbers with every standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed = 20240601) : state_(seed) {}

  std::uint64_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return state_ ^ (state_ >> 29);
  }

 private:
  std::uint64_t state_;
};

// A little more than two blocks of any element.
inline constexpr std::size_t kCorpusBytes = 2 * kernels::kBlockBytes + 77 * 16;

// One of each pattern: any bits at all; small whole numbers (no NaN in any float type wider than a
// byte); zeros; bits that are NaN or Inf throughout; values about 1 in a float type's own width.
inline std::vector<Sample> make_corpus() {
  Random random;
  const auto fill = [](auto make) {
    std::vector<std::byte> bytes(kCorpusBytes);
    for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
      const std::uint64_t word = make(i / 8);
      std::memcpy(bytes.data() + i, &word, 8);
    }
    return bytes;
  };
  std::vector<Sample> corpus;
  corpus.push_back({"any", fill([&](std::size_t) { return random.next(); })});
  corpus.push_back(
      {"small", fill([&](std::size_t) { return random.next() & 0x3f3f3f3f3f3f3f3f; })});
  corpus.push_back({"zero", fill([](std::size_t) { return std::uint64_t{0}; })});
  corpus.push_back({"ones", fill([](std::size_t) { return ~std::uint64_t{0}; })});
  corpus.push_back({"float16", fill([&](std::size_t) {
                      return (random.next() & 0x83ff83ff83ff83ff) | 0x3800380038003800;
                    })});
  corpus.push_back({"float32", fill([&](std::size_t) {
                      return (random.next() & 0x807fffff807fffff) | 0x3f0000003f000000;
                    })});
  corpus.push_back({"float64", fill([&](std::size_t) {
                      return (random.next() & 0x800fffffffffffff) | 0x3fe0000000000000;
                    })});
  corpus.push_back({"huge", fill([&](std::size_t) {
                      return (random.next() & 0x800fffffffffffff) | 0x7fe0000000000000;
                    })});
  corpus.push_back({"tiny", fill([&](std::size_t) { return random.next() & 0x80000000000fffff; })});
  corpus.push_back({"one inf in many", fill([&](std::size_t i) {
                      const std::uint64_t inf =
                          i % 3 == 0 ? 0x7c007f807f800000 : 0x7ff0000000000000;
                      return i % 997 == 3 ? inf : random.next() & 0x3fff3fff3fff3fff;
                    })});
  return corpus;
}

// Lengths about every boundary: nothing, a step, a block, and what lies between.
inline std::vector<std::size_t> make_lengths(kernels::Element element) {
  const auto bits = static_cast<std::size_t>(kernels::element_bits(element));
  const std::size_t available = kCorpusBytes * 8 / bits;
  const std::size_t block = kernels::block_elements(element);
  std::vector<std::size_t> lengths;
  for (std::size_t n = 0; n <= 67; ++n) lengths.push_back(n);
  for (const std::size_t n : {127U, 128U, 1000U, 1023U, 1024U, 1025U, 2047U, 2049U, 4099U}) {
    lengths.push_back(n);
  }
  for (const std::size_t n : {block - 1, block, block + 1, block + 16, block + 33, 2 * block - 1,
                              2 * block + 1, 2 * block + 35}) {
    lengths.push_back(n);
  }
  std::erase_if(lengths, [&](std::size_t n) { return n > available; });
  return lengths;
}

}  // namespace fastdump::tests
