#include "core/reduce/digest.hpp"

#include <cstring>
#include <random>

namespace fastdump {
namespace {

__extension__ using Uint128 = unsigned __int128;  // GCC and clang have it, the standard does not

constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61) - 1;
constexpr std::size_t kCoefficientBytes = 7;
constexpr std::size_t kCoefficients = 4;  // of a step
constexpr std::size_t kStepBytes = kCoefficients * kCoefficientBytes;
// The last coefficient is loaded with a byte that is not its own.
constexpr std::size_t kLoadedBytes = kStepBytes + 1;

// The same modulo the prime, at most two above it: 2^61 is 1 there.
std::uint64_t nearly_reduced(Uint128 x) {
  const auto low = static_cast<std::uint64_t>(x) & kPrime;
  const std::uint64_t sum = low + static_cast<std::uint64_t>(x >> 61);  // x is below 2^124
  return (sum & kPrime) + (sum >> 61);
}

std::uint64_t reduced(std::uint64_t x) { return x < kPrime ? x : x - kPrime; }

std::uint64_t product(std::uint64_t x, std::uint64_t y) {
  return reduced(nearly_reduced(static_cast<Uint128>(x) * y));
}

// One polynomial by Horner's rule, four coefficients a step: their products do not wait for each
// other, and the sum is reduced once.
class Polynomial {
 public:
  Polynomial(std::uint64_t point, std::uint64_t first) : value_(first) {
    powers_[0] = point;
    for (std::size_t i = 1; i < kCoefficients; ++i) powers_[i] = product(powers_[i - 1], point);
  }

  void add(const std::array<std::uint64_t, kCoefficients>& coefficients) {
    const auto& [x, x2, x3, x4] = powers_;
    const Uint128 sum = static_cast<Uint128>(value_) * x4 +
                        static_cast<Uint128>(coefficients[0]) * x3 +
                        static_cast<Uint128>(coefficients[1]) * x2 +
                        static_cast<Uint128>(coefficients[2]) * x + coefficients[3];
    value_ = nearly_reduced(sum);
  }

  std::uint64_t value() const { return reduced(value_); }

 private:
  std::array<std::uint64_t, kCoefficients> powers_;  // of the point, from the first one on
  std::uint64_t value_;
};

std::array<std::uint64_t, kCoefficients> load(const std::byte* bytes) {
  std::array<std::uint64_t, kCoefficients> coefficients;
  for (std::size_t i = 0; i < kCoefficients; ++i) {
    std::memcpy(&coefficients[i], bytes + i * kCoefficientBytes, sizeof coefficients[i]);
    coefficients[i] &= (std::uint64_t{1} << (8 * kCoefficientBytes)) - 1;
  }
  return coefficients;
}

}  // namespace

const DigestPoints& digest_points() {
  static const DigestPoints points = [] {
    std::random_device device;
    std::uniform_int_distribution<std::uint64_t> any(0, kPrime - 1);
    return DigestPoints{any(device), any(device)};
  }();
  return points;
}

Digest digest_of(std::span<const std::byte> bytes, const DigestPoints& points) {
  // What follows the last byte is zero: the number of bytes tells it from bytes that are.
  Polynomial a(points[0], bytes.size() % kPrime), b(points[1], bytes.size() % kPrime);
  const auto add = [&](const std::byte* step) {
    const auto coefficients = load(step);
    a.add(coefficients);
    b.add(coefficients);
  };
  for (; bytes.size() >= kLoadedBytes; bytes = bytes.subspan(kStepBytes)) add(bytes.data());
  std::array<std::byte, kLoadedBytes> rest{};
  if (!bytes.empty()) std::memcpy(rest.data(), bytes.data(), bytes.size());
  add(rest.data());
  return {a.value(), b.value()};
}

}  // namespace fastdump
