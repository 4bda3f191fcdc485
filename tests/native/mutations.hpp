// Files that somebody damaged: every one is handed to a function, as a text that holds its bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "corpus.hpp"

namespace fastdump::tests {

// An emulator is too slow for all of them: it gets one change in so many, other ones for each byte.
#if defined(FASTDUMP_EMULATED)
inline constexpr int kChangesStep = 16;
#else
inline constexpr int kChangesStep = 1;
#endif

// Also the whole file and the empty one.
template <typename Check>
void for_every_prefix(std::string_view file, Check check) {
  for (std::size_t n = 0; n <= file.size(); ++n) check(file.substr(0, n));
}

// Each of the first `end` bytes with each value that a byte has.
template <typename Check>
void for_every_changed_byte(std::string file, std::size_t end, Check check) {
  for (std::size_t i = 0; i < std::min(end, file.size()); ++i) {
    const char original = file[i];
    for (int value = static_cast<int>(i) % kChangesStep; value < 256; value += kChangesStep) {
      file[i] = static_cast<char>(value);
      check(std::string_view(file));
    }
    file[i] = original;
  }
}

// `n` files with up to five damages each: a byte changed, removed, inserted, a run exchanged with
// another, the end cut off. All but the last within the first `end` bytes.
template <typename Check>
void for_many_changes(std::string_view original, std::size_t end, int n, Check check) {
  Random random;
  const auto below = [&](std::size_t limit) { return (random.next() >> 16) % limit; };
  for (int i = 0; i < n; i += kChangesStep) {
    std::string file(original);
    for (std::size_t n_damages = 1 + below(5); n_damages > 0 && !file.empty(); --n_damages) {
      const std::size_t at = below(std::min(end, file.size()));
      switch (below(8)) {
        case 0:
          file.erase(at, 1 + below(4));
          break;
        case 1:
          file.insert(at, 1 + below(4), static_cast<char>(below(256)));
          break;
        case 2:
          file.insert(at, file.substr(below(file.size()), below(16)));
          break;
        case 3:
          if (below(4) == 0) file.resize(below(file.size() + 1));
          break;
        case 4:  // an extreme of a number that may be there
          file[at] = static_cast<char>(below(2) == 0 ? 0xFF : 0x7F);
          break;
        default:
          file[at] = static_cast<char>(below(256));
      }
    }
    check(std::string_view(file));
  }
}

}  // namespace fastdump::tests
