// Digests of bytes, against polynomials that are evaluated a coefficient at a time; and what they
// are for: bytes that differ in anything have others.
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <span>
#include <vector>

#include "check.hpp"
#include "core/reduce/digest.hpp"

namespace fastdump {
namespace {

__extension__ using Uint128 = unsigned __int128;
using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61) - 1;

std::uint64_t slow_polynomial(const Bytes& bytes, std::uint64_t point) {
  constexpr std::size_t kAtOnce = 4;
  // Zeros follow, so that there are always whole steps, and at least one byte more.
  std::size_t n_steps = 1;
  while (n_steps * 7 * kAtOnce < bytes.size()) ++n_steps;
  std::uint64_t value = bytes.size() % kPrime;
  for (std::size_t i = 0; i < n_steps * kAtOnce; ++i) {
    std::uint64_t coefficient = 0;
    for (std::size_t j = 7; j-- > 0;) {
      const std::size_t at = 7 * i + j;
      coefficient =
          256 * coefficient + (at < bytes.size() ? std::to_integer<std::uint64_t>(bytes[at]) : 0);
    }
    value =
        static_cast<std::uint64_t>((static_cast<Uint128>(value) * point + coefficient) % kPrime);
  }
  return value;
}

Bytes random_bytes(std::mt19937_64& random, std::size_t n) {
  Bytes bytes(n);
  // Runs of bytes that are alike, all ones among them, as well as any.
  const std::uint64_t mask = random() % 3 == 0 ? 0xff : random() % 256;
  for (std::byte& byte : bytes) byte = static_cast<std::byte>((random() & mask) | (~mask & 0xff));
  return bytes;
}

void test_against_slow_polynomials() {
  std::mt19937_64 random(20260102);
  const DigestPoints edges = {0, kPrime - 1};
  for (std::size_t n = 0; n < 300; ++n) {
    const Bytes bytes = random_bytes(random, n);
    for (const DigestPoints& points :
         {edges, DigestPoints{1, 2}, DigestPoints{random() % kPrime, random() % kPrime}}) {
      const Digest digest = digest_of(bytes, points);
      CHECK(digest[0] == slow_polynomial(bytes, points[0]));
      CHECK(digest[1] == slow_polynomial(bytes, points[1]));
    }
  }
  const Bytes large = random_bytes(random, 65536);
  CHECK(digest_of(large, {kPrime - 2, 3})[0] == slow_polynomial(large, kPrime - 2));
  const Bytes ones(65536, std::byte{0xff});
  CHECK(digest_of(ones, edges)[1] == slow_polynomial(ones, kPrime - 1));
}

void test_every_bit_counts() {
  std::mt19937_64 random(7);
  for (const std::size_t n : {1U, 7U, 8U, 28U, 29U, 57U, 130U}) {
    Bytes bytes = random_bytes(random, n);
    std::set<Digest> digests = {digest_of(bytes, digest_points())};
    for (std::size_t bit = 0; bit < 8 * n; ++bit) {
      bytes[bit / 8] ^= std::byte{1} << (bit % 8);
      CHECK(digests.insert(digest_of(bytes, digest_points())).second);
      bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    }
    CHECK(digests.contains(digest_of(bytes, digest_points())));
  }
}

void test_zeros_are_told_by_their_number() {
  std::set<Digest> digests;
  for (std::size_t n = 0; n < 200; ++n) {
    CHECK(digests.insert(digest_of(Bytes(n), digest_points())).second);
  }
}

void test_points_are_drawn() {
  const DigestPoints& points = digest_points();
  CHECK(points[0] < kPrime && points[1] < kPrime && points[0] != points[1]);
  CHECK(&points == &digest_points());
}

}  // namespace
}  // namespace fastdump

int main() {
  fastdump::test_against_slow_polynomials();
  fastdump::test_every_bit_counts();
  fastdump::test_zeros_are_told_by_their_number();
  fastdump::test_points_are_drawn();
  return fastdump::tests::exit_code();
}
