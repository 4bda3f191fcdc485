// Any format, stored shape and shape of the host array: there is no layout, or it copies each
// element to one place, from within the stored tensor.
#include <array>
#include <cstring>

#include "choices.hpp"
#include "core/arrays/gather_array.hpp"
#include "core/errors.hpp"
#include "core/layout/host_layout.hpp"
#include "core/layout/logical_elements.hpp"
#include "core/size.hpp"
#include "target.hpp"

namespace fastdump::fuzz {
namespace {

constexpr std::uint64_t kMaxElements = 1 << 15;
constexpr std::array<std::string_view, 8> kOrders = {"",      "NCHW",  "NHWC",  "HWCN",
                                                     "NCDHW", "NDHWC", "DHWCN", "ND"};
constexpr std::array<std::int64_t, 10> kFormats = {0, 2, 3, 4, 13, 25, 28, 29, 32, 33};

std::vector<std::int64_t> read_shape(Choices& choices) {
  std::vector<std::int64_t> shape(choices.byte() % 10);
  for (std::int64_t& dim : shape) dim = static_cast<std::int64_t>(choices.size());
  return shape;
}

// Elements that are their own places, each in the last bytes of its unit.
std::vector<std::byte> numbered(std::uint64_t n, std::size_t nbytes) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(n) * nbytes);
  for (std::size_t i = 0; i < n; ++i)
    std::memcpy(bytes.data() + i * nbytes, &i, std::min<std::size_t>(nbytes, 4));
  return bytes;
}

void check_gathered(const HostLayout& layout, std::size_t nbytes, Choices& choices) {
  const std::uint64_t n = layout.n_elements();
  const std::vector<std::byte> numbers = numbered(layout.n_stored(), nbytes);
  const Exact stored{numbers};
  std::vector<std::byte> host(static_cast<std::size_t>(n) * nbytes);
  layout.gather(stored.bytes().data(), nbytes, 0, n, host.data());
  if (nbytes >= 4) {
    std::vector<bool> taken(static_cast<std::size_t>(layout.n_stored()));
    for (std::size_t i = 0; i < n; ++i) {
      std::uint32_t place = 0;
      std::memcpy(&place, host.data() + i * nbytes, 4);
      CHECK(place < taken.size() && !taken[place]);
      if (place < taken.size()) taken[place] = true;
      if (layout.is_identity()) CHECK_EQ(place, i);
    }
  }
  // A part of the array is that part of the whole, and so it is by several threads.
  const std::uint64_t first = choices.up_to(n);
  const std::uint64_t n_part = choices.up_to(n - first);
  const auto expected = std::span(host).subspan(static_cast<std::size_t>(first) * nbytes,
                                                static_cast<std::size_t>(n_part) * nbytes);
  std::vector<std::byte> part(expected.size());
  layout.gather(stored.bytes().data(), nbytes, first, n_part, part.data(),
                kernels::Destination::streamed);
  CHECK(std::ranges::equal(part, expected));
  std::ranges::fill(part, std::byte{});
  gather_array(layout, stored.bytes().data(), nbytes, first, n_part, part.data(), 2);
  CHECK(std::ranges::equal(part, expected));
}

void check_layout(const HostLayout& layout, Choices& choices) {
  CHECK_EQ(count_elements(std::span<const std::int64_t>(layout.shape())), layout.n_elements());
  CHECK(layout.n_elements() <= layout.n_stored());
  CHECK(layout.order() == "ND" || layout.order().size() == layout.shape().size());
  for (const int bits : {1, 2, 4}) {
    std::string why;
    const auto logical = make_logical_elements(layout, bits, why);
    CHECK_EQ(logical.has_value(), why.empty());
    // Only what is gathered is told in units.
    if (logical && !layout.is_identity()) {
      CHECK(logical->stored_nbytes() <= packed_nbytes(add(layout.n_stored(), 7), bits));
    }
  }
  if (layout.n_stored() > kMaxElements) return;
  constexpr std::array<std::size_t, 6> kNbytes = {4, 1, 2, 8, 16, 3};
  check_gathered(layout, choices.of(kNbytes), choices);
}

}  // namespace

void run(std::span<const std::byte> input) {
  Choices choices(input);
  const std::vector<std::int64_t> stored = read_shape(choices);
  const std::vector<std::int64_t> host = read_shape(choices);
  StoredTensor tensor;
  tensor.format = choices.flag() ? choices.byte() : choices.of(kFormats);
  tensor.sub_format = static_cast<std::int64_t>(choices.size());
  tensor.shape = stored;
  tensor.origin_shape = host;
  const std::string_view order = choices.of(kOrders);
  const std::string_view hint = choices.of(kOrders);
  try {
    const HostLayout layout(tensor, order, hint);
    check_layout(layout, choices);
  } catch (const LayoutError& error) {
    CHECK(!std::string_view(error.what()).empty());
    CHECK(std::string_view(error.what()).size() < 4096);
  }
}

namespace {

// From the end of an input: two shapes, no other format than those listed, which one, a number of
// groups, no order.
std::string seed(const std::string& stored, const std::string& host, char format) {
  std::string input(12, '\x11');
  const auto add = [&](char choice) { input.insert(input.begin() + 12, choice); };
  const auto add_shape = [&](const std::string& shape) {
    add(static_cast<char>(shape.size()));
    for (const char dim : shape) add(dim);
  };
  add_shape(stored);
  add_shape(host);
  add('\0');
  add(format);
  add('\1');
  return input;
}

}  // namespace

std::vector<std::string> seeds() {
  return {seed({2, 1, 5, 3, 16}, {2, 7, 5, 3}, 2),    seed({3, 1, 16, 16}, {7, 40}, 7),
          seed({9, 1, 16, 16}, {5, 3, 3, 6}, 3),      seed({2, 3, 1, 4, 4, 8}, {2, 6, 3, 4, 4}, 8),
          seed({1, 3, 3, 5, 16, 8}, {5, 7, 3, 3}, 5), seed({2, 3}, {2, 3}, 1)};
}

}  // namespace fastdump::fuzz
