// Elements of any type and any bits: every tier of this CPU gives the same bits, however the
// elements lie and are cut, and they are what a slow sum in a wider type gives.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "choices.hpp"
#include "core/arrays/reduce_array.hpp"
#include "elements.hpp"
#include "kernels/partial.hpp"
#include "kernels/tiers.hpp"
#include "target.hpp"

namespace fastdump::fuzz {
namespace {

using namespace kernels;

constexpr std::size_t kMaxRepeated = std::size_t{300} << 10;  // more than a block

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

bool same(const Statistics& a, const Statistics& b) {
  const bool same_extremes = a.finite == 0 || (a.max.u64 == b.max.u64 && a.min.u64 == b.min.u64);
  return a.count == b.count && a.finite == b.finite && same_extremes && same_bits(a.mean, b.mean) &&
         same_bits(a.l2norm, b.l2norm) && a.nan == b.nan && a.pos_inf == b.pos_inf &&
         a.neg_inf == b.neg_inf && a.zero == b.zero && a.subnormal == b.subnormal &&
         a.saturated == b.saturated && a.first_bad == b.first_bad;
}

// At an address of any alignment, by one tier, in blocks from the last to the first.
Statistics reduce(const Tier& tier, Element element, Level level, std::span<const std::byte> bytes,
                  std::size_t n, std::size_t shift) {
  Partial total;
  const std::size_t block = block_elements(element);
  for (std::size_t first = n == 0 ? 0 : (n - 1) / block * block;; first -= block) {
    const std::size_t count = std::min(block, n - first);
    const std::size_t begin = packed_size(element, first);
    std::vector<std::byte> moved(shift + packed_size(element, count));
    std::ranges::copy(bytes.subspan(begin, moved.size() - shift),
                      moved.begin() + static_cast<std::ptrdiff_t>(shift));
    const Exact exact{moved};
    Partial partial;
    partial.add(tier, element, level, exact.bytes().data() + shift, count, first);
    total.add(partial, element);
    if (first == 0) break;
  }
  return total.finish(level, element);
}

double extreme(Number number, Element element) {
  switch (number_kind(element)) {
    case NumberKind::i64:
      return static_cast<double>(number.i64);
    case NumberKind::u64:
      return static_cast<double>(number.u64);
    case NumberKind::f64:
      break;
  }
  return number.f64;
}

// A second opinion, in a type with a wider range and more digits.
void check_numbers(const Statistics& found, Element element, std::span<const std::byte> bytes,
                   std::size_t n) {
  Statistics expected;
  long double sum = 0;
  long double sum_of_magnitudes = 0;
  long double squares = 0;
  double max = -std::numeric_limits<double>::infinity();
  double min = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < n; ++i) {
    const std::optional<double> x = element_at(element, bytes, i);
    if (!x) return;
    const bool is_bad = !std::isfinite(*x);
    expected.nan += std::isnan(*x) ? 1 : 0;
    expected.pos_inf += is_bad && *x > 0 ? 1 : 0;
    expected.neg_inf += is_bad && *x < 0 ? 1 : 0;
    expected.zero += *x == 0 ? 1 : 0;
    if (is_bad && expected.first_bad < 0) expected.first_bad = static_cast<std::int64_t>(i);
    if (is_bad) continue;
    ++expected.finite;
    max = std::max(max, *x);
    min = std::min(min, *x);
    sum += *x;
    sum_of_magnitudes += std::fabs(*x);
    squares += static_cast<long double>(*x) * *x;
  }
  CHECK_EQ(found.count, n);
  CHECK_EQ(found.finite, expected.finite);
  CHECK_EQ(found.nan, expected.nan);
  CHECK_EQ(found.pos_inf, expected.pos_inf);
  CHECK_EQ(found.neg_inf, expected.neg_inf);
  CHECK_EQ(found.zero, expected.zero);
  CHECK_EQ(found.first_bad, expected.first_bad);
  if (expected.finite == 0) return;
  CHECK_EQ(extreme(found.max, element), max);
  CHECK_EQ(extreme(found.min, element), min);
  const auto n_finite = static_cast<long double>(expected.finite);
  const long double tolerance =
      1e-12L * sum_of_magnitudes / n_finite + std::numeric_limits<double>::denorm_min();
  CHECK(std::fabs(found.mean - sum / n_finite) <= tolerance);
  const long double norm = std::sqrt(squares);
  if (norm <= std::numeric_limits<double>::max()) {
    CHECK(std::fabs(found.l2norm - norm) <=
          1e-12L * norm + std::numeric_limits<double>::denorm_min());
  } else {
    CHECK(std::isinf(found.l2norm));
  }
}

// Blocks are long: a short input is repeated.
std::vector<std::byte> repeated(std::span<const std::byte> pattern, std::size_t n_times) {
  std::vector<std::byte> bytes;
  do {
    bytes.insert(bytes.end(), pattern.begin(), pattern.end());
  } while (n_times-- > 0 && bytes.size() < kMaxRepeated);
  return bytes;
}

void check_unpacked(Element element, std::span<const std::byte> bytes, std::size_t n) {
  const Tier& reference = *compiled_tiers().back().tier;
  const UnpackFunction unpack = reference.unpack[static_cast<int>(element)];
  if (unpack == nullptr) return;
  std::vector<std::byte> expected(n);
  unpack(bytes.data(), n, expected.data());
  for (const TierChoice& choice : compiled_tiers()) {
    if (!choice.usable) continue;
    std::vector<std::byte> codes(n);
    choice.tier->unpack[static_cast<int>(element)](bytes.data(), n, codes.data());
    CHECK(codes == expected);
  }
}

}  // namespace

void run(std::span<const std::byte> input) {
  Choices choices(input);
  const auto element = static_cast<Element>(1 + choices.byte() % (kElementCount - 1));
  const auto level = static_cast<Level>(choices.byte() % kLevelCount);
  const std::size_t shift = choices.byte() % 16;
  const std::uint8_t n_times = choices.byte();
  const std::size_t n_fewer = choices.byte() % 8;
  const std::vector<std::byte> all = repeated(choices.rest(), n_times < 0xE0 ? 0 : n_times * 4U);
  const auto bits = static_cast<std::size_t>(element_bits(element));
  std::size_t n = all.size() * 8 / bits;
  n -= std::min(n, n_fewer);
  const Exact bytes(std::span<const std::byte>(all).first(packed_size(element, n)));

  const Tier& reference = *compiled_tiers().back().tier;
  const Statistics expected = reduce(reference, element, level, bytes.bytes(), n, 0);
  for (const TierChoice& choice : compiled_tiers()) {
    if (!choice.usable) continue;
    CHECK(same(reduce(*choice.tier, element, level, bytes.bytes(), n, shift), expected));
  }
  CHECK(same(reduce_array(element, level, bytes.bytes().data(), n, 2), expected));
  check_unpacked(element, bytes.bytes(), n);
  if (level == Level::full && n <= (1U << 14)) check_numbers(expected, element, bytes.bytes(), n);
}

std::vector<std::string> seeds() {
  std::vector<std::string> inputs;
  for (char element = 0; element < kElementCount - 1; ++element) {
    std::string bytes;
    for (int i = 0; i < 96; ++i) bytes += static_cast<char>(i * 37 % 251);
    bytes += std::string("\0\0\x80\x7f\0\0\xc0\x7f\0\0\x80\xff\0\0\0\0\x01\x00\x00\x80", 20);
    inputs.push_back(bytes + std::string{'\0', '\0', '\3', '\2', element});
    if (element % 4 == 0) inputs.push_back(bytes + std::string{'\3', '\xff', '\1', '\2', element});
  }
  return inputs;
}

}  // namespace fastdump::fuzz
