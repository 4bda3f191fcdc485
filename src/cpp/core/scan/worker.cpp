#include "core/scan/worker.hpp"

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

bool Worker::needs_bytes(kernels::Element element) const {
  return tier_.reduce[static_cast<int>(element)][static_cast<int>(level_)] != nullptr;
}

}  // namespace fastdump
