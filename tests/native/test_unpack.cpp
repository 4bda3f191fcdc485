// Packed elements become one code a byte: in every tier, for every code in every place of a byte,
// any number of them, and no byte beyond.
#include <cstdint>
#include <cstring>
#include <vector>

#include "check.hpp"
#include "core/arrays/unpack.hpp"
#include "kernels/tiers.hpp"

namespace fastdump {
namespace {

using kernels::Element;

constexpr Element kPacked[] = {Element::float4_e2m1fn, Element::float4_e1m2, Element::int4,
                               Element::int2,          Element::uint2,       Element::uint1};
constexpr std::byte kUntouched{0xA5};

std::vector<std::byte> make_bytes(std::size_t n) {
  std::vector<std::byte> bytes(n);
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < n; ++i) {
    state = state * 1664525 + 1013904223;
    // All byte values in the first 256.
    bytes[i] = static_cast<std::byte>(i < 256 ? i : state >> 24);
  }
  return bytes;
}

// By the definitions: low bits first, but one-bit elements from the high bit down.
std::byte code_at(const std::vector<std::byte>& bytes, Element element, std::size_t index) {
  const auto bits = static_cast<std::size_t>(kernels::element_bits(element));
  const std::size_t bit = index * bits % 8;
  const std::size_t shift = element == Element::uint1 ? 7 - bit : bit;
  const auto mask = static_cast<std::uint8_t>((1U << bits) - 1);
  return bytes[index * bits / 8] >> shift & std::byte{mask};
}

void check_codes(const std::vector<std::byte>& bytes, Element element,
                 const std::vector<std::byte>& out, std::size_t n) {
  bool right = true;
  for (std::size_t i = 0; i < n; ++i) right &= out[i] == code_at(bytes, element, i);
  for (std::size_t i = n; i < out.size(); ++i) right &= out[i] == kUntouched;
  CHECK(right);
}

// Memory is exactly as long as it need be: an access beyond is the sanitizer's to find.
void test_tier(const kernels::Tier& tier, Element element, std::size_t n) {
  const std::size_t bits = static_cast<std::size_t>(kernels::element_bits(element));
  const std::vector<std::byte> bytes = make_bytes((n * bits + 7) / 8);
  std::vector<std::byte> odd(bytes.size() + 1);
  if (!bytes.empty()) std::memcpy(odd.data() + 1, bytes.data(), bytes.size());
  std::vector<std::byte> out(n + 1, kUntouched);
  tier.unpack[static_cast<int>(element)](odd.data() + 1, n, out.data());
  check_codes(bytes, element, out, n);
}

void test_threads(Element element, std::size_t n, int threads) {
  const std::size_t bits = static_cast<std::size_t>(kernels::element_bits(element));
  const std::vector<std::byte> bytes = make_bytes((n * bits + 7) / 8);
  std::vector<std::byte> out(n + 3, kUntouched);
  unpack(element, bytes.data(), n, out.data(), threads);
  check_codes(bytes, element, out, n);
}

}  // namespace
}  // namespace fastdump

int main() {
  using namespace fastdump;
  for (const kernels::TierChoice& choice : kernels::compiled_tiers()) {
    if (!choice.usable) continue;
    for (int e = 0; e < kernels::kElementCount; ++e) {
      const auto element = static_cast<Element>(e);
      CHECK_EQ(choice.tier->unpack[e] != nullptr, is_packed(element));
    }
    for (const Element element : kPacked) {
      for (std::size_t n = 0; n < 300; ++n) test_tier(*choice.tier, element, n);
      for (std::size_t n = 2040; n < 2060; ++n) test_tier(*choice.tier, element, n);
    }
  }
  CHECK(!is_packed(Element::none));
  CHECK(!is_packed(Element::hifloat8));
  for (const Element element : kPacked) {
    CHECK(is_packed(element));
    for (const int threads : {1, 2, 5}) {
      test_threads(element, (std::size_t{3} << 20) + 13, threads);
      test_threads(element, 0, threads);
    }
  }
  return tests::exit_code();
}
