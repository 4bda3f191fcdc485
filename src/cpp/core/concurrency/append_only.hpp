// A sequence that only grows, whose elements stay where they are: what one thread has appended and
// told of, others read while it appends more.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <memory>
#include <utility>

namespace fastdump {

template <class T>
class AppendOnly {
 public:
  AppendOnly() = default;
  AppendOnly(AppendOnly&& other) noexcept
      : chunks_(std::move(other.chunks_)), size_(std::exchange(other.size_, 0)) {}
  AppendOnly& operator=(AppendOnly&& other) noexcept {
    chunks_ = std::move(other.chunks_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  void push_back(T value) {
    const auto [chunk, place] = find(size_);
    if (place == 0) chunks_[chunk] = std::make_unique_for_overwrite<T[]>(kFirst << chunk);
    chunks_[chunk][place] = std::move(value);
    ++size_;
  }
  const T& operator[](std::size_t i) const {
    const auto [chunk, place] = find(i);
    return chunks_[chunk][place];
  }
  // To change an element; nobody else may read what is changed.
  T& at(std::size_t i) {
    const auto [chunk, place] = find(i);
    return chunks_[chunk][place];
  }
  // For the thread that appends, and for all once it has ended.
  std::size_t size() const { return size_; }

 private:
  // Each chunk is twice as long as the one before.
  static constexpr std::size_t kFirst = 64;

  static std::pair<std::size_t, std::size_t> find(std::size_t i) {
    const std::size_t n = i / kFirst + 1;
    const auto chunk = static_cast<std::size_t>(std::bit_width(n)) - 1;
    return {chunk, i - kFirst * ((std::size_t{1} << chunk) - 1)};
  }

  std::array<std::unique_ptr<T[]>, 58> chunks_;  // more than there can be
  std::size_t size_ = 0;
};

}  // namespace fastdump
