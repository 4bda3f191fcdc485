#include "core/formats/header_bytes.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/errors.hpp"

namespace fastdump {

std::span<const std::byte> HeaderBytes::move_window(std::uint64_t offset, std::size_t n,
                                                    std::size_t ahead) {
  const std::uint64_t n_left = file_nbytes_ - std::min(offset, file_nbytes_);
  if (n > n_left) {
    throw FormatError("the file ends at byte " + std::to_string(file_nbytes_) + ", before the " +
                          std::to_string(n) + " bytes that begin at byte " + std::to_string(offset),
                      file_nbytes_);
  }
  std::vector<std::byte> moved(std::max<std::uint64_t>(n, std::min<std::uint64_t>(ahead, n_left)));
  // What was read before is not read again: it may be something else by now.
  std::size_t n_known = 0;
  if (offset >= window_begin_ && offset - window_begin_ < window_.size()) {
    const auto known = window_.subspan(static_cast<std::size_t>(offset - window_begin_));
    n_known = std::min(known.size(), moved.size());
    std::ranges::copy(known.first(n_known), moved.begin());
  }
  const std::size_t n_there = n_known + fetch(offset + n_known, std::span(moved).subspan(n_known));
  if (n_there < n) {
    throw FormatError("the file shrank while its header was read: " + std::to_string(n_there) +
                          " of " + std::to_string(n) + " bytes",
                      offset + n_there);
  }
  moved.resize(n_there);
  storage_ = std::move(moved);
  window_ = storage_;
  window_begin_ = offset;
  return window_.first(n);
}

}  // namespace fastdump
