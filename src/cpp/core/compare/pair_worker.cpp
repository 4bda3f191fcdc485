#include "core/compare/pair_worker.hpp"

#include <algorithm>

namespace fastdump {
namespace {

constexpr std::size_t kAlignment = 4096;

// What is loaded of either side at most.
std::size_t side_nbytes(const ElementSource& a, const ElementSource& b) {
  return a.is_gathered() || b.is_gathered() ? kGatheredSideBytes : kSideBufferBytes;
}

}  // namespace

PairWorker::PairWorker(const kernels::Tier& tier, const kernels::Tolerance& tolerance)
    : tier_(tier), tolerance_(tolerance) {
  reserve(kSideBufferBytes);
}

void PairWorker::reserve(std::size_t side_nbytes) {
  if (side_nbytes <= side_nbytes_) return;
  storage_.reset(new std::byte[2 * side_nbytes + kAlignment]);
  const auto start = reinterpret_cast<std::uintptr_t>(storage_.get());
  buffers_ = storage_.get() + (kAlignment - start % kAlignment) % kAlignment;
  side_nbytes_ = side_nbytes;
}

void PairWorker::begin(const std::optional<kernels::DivergenceRange>& range) {
  range_ = range;
  if (range_) {
    divergence_.clear();
  } else {
    partial_.clear();
  }
}

void PairWorker::reduce(const kernels::PairOperands& operands, std::size_t n, std::uint64_t first) {
  if (range_) {
    divergence_.add(tier_, *range_, operands, n);
  } else {
    partial_.add(tier_, tolerance_, operands, n, first);
  }
}

bool PairWorker::reduce_mapped(const ElementSource& a, const ElementSource& b, std::uint64_t first,
                               std::size_t n) {
  MappedElements mapped_a = a.map(first, n);
  MappedElements mapped_b = b.map(first, n);
  if (mapped_a.data() == nullptr || mapped_b.data() == nullptr) return false;
  reduce({a.element(), b.element(), mapped_a.data(), mapped_b.data()}, n, first);
  const bool held_a = mapped_a.release();
  const bool held_b = mapped_b.release();
  return held_a && held_b;
}

Missing PairWorker::reduce_read(const ElementSource& a, const ElementSource& b, std::uint64_t first,
                                std::size_t n) {
  const std::size_t piece = max_loaded(a, b);
  Missing missing;
  for (std::size_t done = 0; done < n; done += piece) {
    const std::size_t count = std::min(n - done, piece);
    const Loaded loaded = load(a, b, first + done, count);
    reduce(loaded.operands, loaded.n, first + done);
    missing.add(loaded.missing);
  }
  return missing;
}

std::size_t PairWorker::max_loaded(const ElementSource& a, const ElementSource& b) {
  const int bits = std::max(kernels::element_bits(a.element()), kernels::element_bits(b.element()));
  return side_nbytes(a, b) * 8 / static_cast<std::size_t>(bits);
}

PairWorker::Loaded PairWorker::load(const ElementSource& a, const ElementSource& b,
                                    std::uint64_t first, std::size_t n) {
  reserve(side_nbytes(a, b));
  const ReadElements read_a = a.read(first, n, {buffers_, side_nbytes_});
  const ReadElements read_b = b.read(first, n, {buffers_ + side_nbytes_, side_nbytes_});
  return {{a.element(), b.element(), read_a.data, read_b.data},
          std::min(read_a.n, read_b.n),
          {{n - read_a.n, read_a.error}, {n - read_b.n, read_b.error}}};
}

}  // namespace fastdump
