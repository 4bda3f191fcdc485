#include "core/table/offsets.hpp"

namespace fastdump {
namespace {

// Offsets [first + 1, first + n] of `from`, moved so that they follow the last of `to`.
template <class From, class To>
void append_moved(const std::vector<From>& from, std::size_t first, std::size_t n,
                  std::vector<To>& to) {
  const std::size_t size = to.size();
  const std::int64_t moved = std::int64_t{to.back()} - from[first];
  to.resize(size + n);
  for (std::size_t i = 0; i < n; ++i) {
    to[size + i] = static_cast<To>(from[first + 1 + i] + moved);
  }
}

}  // namespace

void Offsets::append(std::size_t end, std::size_t n) {
  widen_for(end);
  if (is_wide_) {
    wide_.insert(wide_.end(), n, static_cast<std::int64_t>(end));
  } else if (n == 1) {
    narrow_.push_back(static_cast<std::int32_t>(end));
  } else {
    narrow_.insert(narrow_.end(), n, static_cast<std::int32_t>(end));
  }
}

void Offsets::append(const Offsets& other, std::size_t first, std::size_t n) {
  widen_for(back() + (other[first + n] - other[first]));
  const auto append_to = [&](auto& offsets) {
    if (other.is_wide_) {
      append_moved(other.wide_, first, n, offsets);
    } else {
      append_moved(other.narrow_, first, n, offsets);
    }
  };
  if (is_wide_) {
    append_to(wide_);
  } else {
    append_to(narrow_);
  }
}

void Offsets::reserve(std::size_t n_rows, std::size_t end) {
  widen_for(end);
  if (is_wide_) {
    wide_.reserve(n_rows + 1);
  } else {
    narrow_.reserve(n_rows + 1);
  }
}

void Offsets::truncate(std::size_t n) {
  if (is_wide_) {
    wide_.resize(n + 1);
  } else {
    narrow_.resize(n + 1);
  }
}

void Offsets::widen() {
  wide_.reserve(narrow_.capacity());
  wide_.assign(narrow_.begin(), narrow_.end());
  narrow_ = {};
  is_wide_ = true;
}

}  // namespace fastdump
