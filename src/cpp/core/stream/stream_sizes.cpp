#include "core/stream/stream_sizes.hpp"

#include "core/environment.hpp"

namespace fastdump {
namespace {

StreamSizes find_stream_sizes() {
  StreamSizes sizes;
  if (const auto mib = number_in_environment("FASTDUMP_CHUNK_MIB", 1, 1 << 10)) {
    sizes.chunk_nbytes = static_cast<std::uint64_t>(*mib) << 20;
  }
  if (const auto mib = number_in_environment("FASTDUMP_MMAP_MIB", 0, 1 << 20)) {
    sizes.min_mapped_nbytes = static_cast<std::uint64_t>(*mib) << 20;
  }
  return sizes;
}

}  // namespace

const StreamSizes& stream_sizes() {
  static const StreamSizes sizes = find_stream_sizes();
  return sizes;
}

}  // namespace fastdump
