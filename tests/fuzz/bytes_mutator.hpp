// A mutation of bytes that nothing is known of, where libFuzzer's own is not to be had.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "corpus.hpp"

namespace fastdump::fuzz {

// A number from 0 to limit - 1.
inline std::size_t below(tests::Random& random, std::size_t limit) {
  return static_cast<std::size_t>((random.next() >> 16) % limit);
}

// Changes the `size` bytes at `data`, of which there may be `max_size`, and returns how many there
// are then.
inline std::size_t mutate_bytes(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                tests::Random& random) {
  constexpr std::array<std::uint64_t, 6> kExtremes = {
      0, 1, 0x7F, 0x7FFFFFFF, 0x7FFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF};
  const std::size_t kind = size == 0 ? 0 : below(random, 8);
  const std::size_t at = below(random, size + 1);
  const std::size_t n_left = size - at;
  if (kind == 0) {  // insert
    const std::size_t n = std::min(1 + below(random, 8), max_size - size);
    std::memmove(data + at + n, data + at, n_left);
    const bool repeat = below(random, 2) == 0;
    for (std::size_t i = 0; i < n; ++i) {
      data[at + i] = static_cast<std::uint8_t>(repeat && at > i ? data[at - 1 - i] : random.next());
    }
    return size + n;
  }
  if (kind == 1) {  // remove
    const std::size_t n = std::min(1 + below(random, 8), n_left);
    std::memmove(data + at, data + at + n, n_left - n);
    return size - n;
  }
  if (kind == 2 && below(random, 4) == 0) return at;  // cut
  if (kind == 3) {                                    // an extreme of a number that may be there
    const std::uint64_t value = kExtremes[below(random, kExtremes.size())];
    std::memcpy(data + at, &value, std::min({sizeof value, n_left, std::size_t{1} << at % 4}));
    return size;
  }
  if (kind == 4) {  // a copy of something else
    const std::size_t from = below(random, size);
    std::memmove(data + at, data + from, std::min({below(random, 17), n_left, size - from}));
    return size;
  }
  std::uint8_t& byte = data[at < size ? at : 0];
  byte = kind == 5 ? static_cast<std::uint8_t>(byte ^ 1U << random.next() % 8)
                   : static_cast<std::uint8_t>(random.next() >> 20);
  return size;
}

}  // namespace fastdump::fuzz
