// Where the parts of a column's rows end, as Arrow has it: 32-bit numbers, and 64-bit ones as soon
// as a column has more parts than those can tell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace fastdump {

class Offsets {
 public:
  static constexpr std::size_t kMaxNarrow = std::numeric_limits<std::int32_t>::max();

  // Begins with the offset 0. `max_narrow` is the largest that is held in 32 bits: less than
  // kMaxNarrow for tests.
  explicit Offsets(std::size_t max_narrow = kMaxNarrow) : max_narrow_(max_narrow) {}

  bool is_wide() const { return is_wide_; }
  // Of 32-bit numbers, or of 64-bit ones if it is wide.
  const void* data() const {
    return is_wide_ ? static_cast<const void*>(wide_.data()) : narrow_.data();
  }
  std::size_t operator[](std::size_t i) const {
    return is_wide_ ? static_cast<std::size_t>(wide_[i]) : static_cast<std::size_t>(narrow_[i]);
  }
  std::size_t back() const {
    return static_cast<std::size_t>(is_wide_ ? wide_.back() : narrow_.back());
  }

  // `n` rows that all end there.
  void append(std::size_t end, std::size_t n = 1);
  // Rows [first, first + n) of others.
  void append(const Offsets& other, std::size_t first, std::size_t n);
  // For as many rows, the last of which ends at `end`.
  void reserve(std::size_t n_rows, std::size_t end);
  // Only the first n rows stay. Never throws.
  void truncate(std::size_t n);

 private:
  void widen_for(std::size_t end) {
    if (end > max_narrow_ && !is_wide_) widen();
  }
  void widen();

  std::size_t max_narrow_;
  bool is_wide_ = false;
  std::vector<std::int32_t> narrow_ = {0};  // empty if they are wide
  std::vector<std::int64_t> wide_;
};

}  // namespace fastdump
