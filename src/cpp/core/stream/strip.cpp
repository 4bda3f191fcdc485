#include "core/stream/strip.hpp"

#include <algorithm>

namespace fastdump {
namespace {

ReadElements gather_elements(Source& source, const Strip& strip, std::uint64_t first, std::size_t n,
                             std::span<std::byte> buffer) {
  if (const int error = source.map(); error != 0) return {buffer.data(), 0, error};
  const LogicalElements& logical = *strip.gathered;
  View stored(source, strip.offset, logical.stored_nbytes());
  if (stored.data() != nullptr) logical.gather(stored.data(), first, n, buffer.data());
  if (stored.close()) {
    const bool is_much = source.count_gathered(static_cast<std::size_t>(strip.nbytes(n)));
    if (is_much) drop_gathered(source, strip);
    return {buffer.data(), n, 0};
  }
  return {buffer.data(), 0, stored.error()};
}

}  // namespace

Shortage shortage_of(const Source& source, const Strip& strip, std::uint64_t n) {
  const auto [source_nbytes, error] = source.size();
  if (error != 0) return {n, error};
  const std::uint64_t n_left = source_nbytes - std::min(strip.offset, source_nbytes);
  if (strip.gathered != nullptr) return {n_left < strip.gathered->stored_nbytes() ? n : 0, 0};
  return {n - std::min(n, whole_elements(n_left, strip.bits)), 0};
}

ReadElements read_elements(Source& source, const Strip& strip, std::uint64_t first, std::size_t n,
                           std::span<std::byte> buffer) {
  if (strip.gathered != nullptr && n != 0) return gather_elements(source, strip, first, n, buffer);
  const auto n_whole = [&](std::size_t n_there) {
    return std::min(n, static_cast<std::size_t>(whole_elements(n_there, strip.bits)));
  };
  const auto kept = source.kept(strip.offset_of(first));
  if (!kept.empty()) return {kept.data(), n_whole(kept.size()), 0};
  const auto nbytes = static_cast<std::size_t>(strip.nbytes(n));
  const ReadResult read = source.read(strip.offset_of(first), buffer.first(nbytes));
  return {buffer.data(), n_whole(read.nbytes), read.error};
}

void drop_gathered(const Source& source, const Strip& strip) {
  if (strip.gathered != nullptr) source.drop(strip.offset, strip.gathered->stored_nbytes());
}

}  // namespace fastdump
