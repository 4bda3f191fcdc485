// Copies of memory: every byte where it has to be, and none beside, for any number of threads.
#include <cstddef>
#include <vector>

#include "check.hpp"
#include "core/arrays/copies.hpp"

namespace fastdump {
namespace {

constexpr std::byte kUntouched{0xA5};

std::vector<std::byte> make_bytes(std::size_t n) {
  std::vector<std::byte> bytes(n);
  for (std::size_t i = 0; i < n; ++i) bytes[i] = static_cast<std::byte>(i ^ i >> 8 ^ i >> 16);
  return bytes;
}

// Copies of `sizes` bytes go to places in the order opposite to that of their sources, with a byte
// between each two of both.
void test(const std::vector<std::size_t>& sizes, int threads) {
  std::size_t nbytes = 1;
  for (const std::size_t size : sizes) nbytes += size + 1;
  const std::vector<std::byte> from = make_bytes(nbytes);
  std::vector<std::byte> to(nbytes, kUntouched);
  std::vector<std::byte> expected = to;
  std::vector<Copy> copies;
  std::size_t first = 1;
  for (const std::size_t size : sizes) {
    const std::size_t target = nbytes - first - size;
    copies.push_back({from.data() + first, to.data() + target, size});
    for (std::size_t i = 0; i < size; ++i) expected[target + i] = from[first + i];
    first += size + 1;
  }
  make_copies(copies, threads);
  CHECK(to == expected);
}

}  // namespace
}  // namespace fastdump

int main() {
  using namespace fastdump;
  constexpr std::size_t kMib = std::size_t{1} << 20;
  for (const int threads : {1, 2, 5, 64}) {
    test({}, threads);
    test({0}, threads);
    test({0, 7, 0, 0, 1, 0}, threads);
    test(std::vector<std::size_t>(3000, 13), threads);
    test({kMib, kMib - 1, kMib + 1, 2 * kMib}, threads);
    test({5, 11 * kMib + 3, 0, 100, 9 * kMib}, threads);
  }
  return tests::exit_code();
}
