#include "core/scan/worker.hpp"

#include <algorithm>
#include <cstdint>

namespace fastdump {
namespace {

constexpr std::size_t kAlignment = 4096;

}  // namespace

Worker::Worker(const kernels::Tier& tier, kernels::Level level)
    : tier_(tier), level_(level), storage_(new std::byte[kBufferBytes + kAlignment]) {
  const auto start = reinterpret_cast<std::uintptr_t>(storage_.get());
  const std::size_t offset = (kAlignment - start % kAlignment) % kAlignment;
  buffer_ = {storage_.get() + offset, kBufferBytes};
}

void Worker::reduce_gathered(kernels::Element element, const LogicalElements& logical,
                             const std::byte* stored, std::uint64_t first, std::uint64_t n) {
  if (gathered_ == nullptr) gathered_.reset(new std::byte[kGatherBytes]);
  const std::uint64_t bits = static_cast<std::uint64_t>(kernels::element_bits(element));
  const std::uint64_t piece = std::uint64_t{kGatherBytes} * 8 / bits;
  for (std::uint64_t done = 0; done < n; done += piece) {
    const std::uint64_t n_piece = std::min(n - done, piece);
    logical.gather(stored, first + done, n_piece, gathered_.get());
    reduce(element, gathered_.get(), n_piece, first + done);
  }
}

bool Worker::needs_bytes(kernels::Element element) const {
  return tier_.reduce[static_cast<int>(element)][static_cast<int>(level_)] != nullptr;
}

}  // namespace fastdump
