// Private formats brought back to host order. Blocks of memory have exactly the size that a layout
// asks for, so that sanitizers see every step outside.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"
#include "core/arrays/gather_array.hpp"
#include "core/errors.hpp"
#include "core/layout/host_layout.hpp"
#include "kernels/strided_copy.hpp"

namespace fastdump {
namespace {

using Dims = std::vector<std::int64_t>;
using kernels::CopyDim;
using kernels::Destination;

constexpr std::int64_t kNchw = 0;
constexpr std::int64_t kNd = 2;
constexpr std::int64_t kNc1hwc0 = 3;
constexpr std::int64_t kFractalZ = 4;
constexpr std::int64_t kFractalZC04 = 13;
constexpr std::int64_t kC1hwncoc0 = 25;
constexpr std::int64_t kFractalZz = 28;
constexpr std::int64_t kFractalNz = 29;
constexpr std::int64_t kNdc1hwc0 = 32;
constexpr std::int64_t kFractalZ3d = 33;
constexpr std::int64_t kFractalZWino = 48;

// ---- the kernel

std::vector<std::byte> random_bytes(std::mt19937& random, std::size_t n) {
  std::vector<std::byte> bytes(n);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

void copy_slowly(const std::byte* from, std::byte* to, const std::vector<CopyDim>& dims,
                 std::size_t element_nbytes) {
  std::vector<std::size_t> index(dims.size());
  while (true) {
    std::size_t from_offset = 0;
    std::size_t to_offset = 0;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      from_offset += index[i] * dims[i].from;
      to_offset += index[i] * dims[i].to;
    }
    std::memcpy(to + to_offset * element_nbytes, from + from_offset * element_nbytes,
                element_nbytes);
    std::size_t i = 0;
    while (i < dims.size() && ++index[i] == dims[i].n) index[i++] = 0;
    if (i == dims.size()) return;
  }
}

std::size_t extent(const std::vector<CopyDim>& dims, std::size_t CopyDim::* stride) {
  std::size_t last = 0;
  for (const CopyDim& dim : dims) last += (dim.n - 1) * (dim.*stride);
  return last + 1;
}

// Copies a box as told, to a place that is `shift` bytes from an aligned one.
void check_copy(std::mt19937& random, const std::vector<CopyDim>& dims, std::size_t element_nbytes,
                std::size_t shift, Destination destination) {
  const auto from = random_bytes(random, extent(dims, &CopyDim::from) * element_nbytes);
  auto to = random_bytes(random, extent(dims, &CopyDim::to) * element_nbytes + shift);
  auto expected = to;
  copy_slowly(from.data(), expected.data() + shift, dims, element_nbytes);
  kernels::copy_strided(from.data(), to.data() + shift, dims.data(), static_cast<int>(dims.size()),
                        element_nbytes, destination);
  CHECK(to == expected);
}

// Both sides hold the same box, each with its dimensions in an order of its own and with gaps.
void test_box(std::mt19937& random, std::size_t element_nbytes, Destination destination) {
  std::vector<CopyDim> dims(random() % 5);
  for (CopyDim& dim : dims) {
    const std::size_t most = random() % 4 == 0 ? 80 : 9;
    dim.n = 1 + random() % most;
  }
  for (const auto stride : {&CopyDim::from, &CopyDim::to}) {
    std::shuffle(dims.begin(), dims.end(), random);
    std::size_t next = random() % 4 == 0 ? 2 : 1;
    for (CopyDim& dim : dims) {
      dim.*stride = next;
      next *= dim.n;
      if (random() % 3 == 0) next += random() % 20;
    }
  }
  std::shuffle(dims.begin(), dims.end(), random);
  if (extent(dims, &CopyDim::to) > 200000 || extent(dims, &CopyDim::from) > 200000) return;
  const std::size_t shift = random() % 34 < 17 ? 0 : random() % 17;
  check_copy(random, dims, element_nbytes, shift, destination);
}

// Columns whose lines of 64 bytes begin at the same row, or at the next: these are streamed whole.
void test_streamed_lines() {
  std::mt19937 random(2);
  for (const std::size_t element_nbytes : {1UL, 2UL, 4UL, 8UL}) {
    const std::size_t line = 64 / element_nbytes;
    for (const std::size_t n_rows : {4 * line, 5 * line + 3, 11 * line - 1}) {
      for (const std::size_t n_columns : {16UL, 19UL, 40UL}) {
        for (const std::size_t gap : {0UL, line, 2 * line + line / 2}) {
          const std::size_t column_to = (n_rows + line - 1) / line * line + gap;
          const std::vector<CopyDim> dims = {{n_rows, n_columns, 1},
                                             {n_columns, 1, column_to},
                                             {3, n_rows * n_columns + 1, n_columns * column_to}};
          for (const std::size_t shift : {0UL, 16UL, 48UL, 5UL}) {
            check_copy(random, dims, element_nbytes, shift, Destination::streamed);
          }
        }
      }
    }
  }
}

void test_boxes() {
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    const std::size_t element_nbytes = std::vector<std::size_t>{1, 2, 4, 8, 16, 5}[i % 6];
    test_box(random, element_nbytes, i % 4 == 0 ? Destination::cached : Destination::streamed);
  }
  std::byte nothing[1] = {std::byte{7}};
  const CopyDim empty[] = {{3, 1, 1}, {0, 3, 3}};
  kernels::copy_strided(nullptr, nothing, empty, 2, 4, Destination::cached);
  CHECK(nothing[0] == std::byte{7});
}

// ---- layouts

struct Case {
  std::int64_t format;
  Dims shape;
  Dims origin_shape;
  std::int64_t sub_format = 0;
  std::string order = {};
};

HostLayout make_layout(const Case& test) {
  return HostLayout({test.format, test.shape, test.origin_shape, test.sub_format}, test.order, "");
}

std::string text(const std::vector<std::uint32_t>& values) {
  std::string joined;
  for (const std::uint32_t value : values) joined += std::to_string(value) + " ";
  return joined;
}

// Stored elements that are their own places.
std::vector<std::uint32_t> places(const HostLayout& layout, std::uint64_t first, std::uint64_t n,
                                  int threads) {
  const std::unique_ptr<std::uint32_t[]> stored(new std::uint32_t[layout.n_stored()]);
  for (std::uint32_t i = 0; i < layout.n_stored(); ++i) stored[i] = i;
  std::vector<std::uint32_t> host(n);
  gather_array(layout, reinterpret_cast<const std::byte*>(stored.get()), 4, first, n,
               reinterpret_cast<std::byte*>(host.data()), threads);
  return host;
}

void test_ranges(const Case& test) {
  const HostLayout layout = make_layout(test);
  const std::uint64_t n = layout.n_elements();
  const auto whole = places(layout, 0, n, 2);
  std::vector<bool> seen(layout.n_stored());
  for (const std::uint32_t place : whole) {
    CHECK(place < seen.size() && !seen[place]);
    seen[place] = true;
  }
  if (test.sub_format <= 1) CHECK(n == 0 || seen.back());
  for (std::uint64_t first = 0; first < n; first += 1 + n / 40) {
    for (std::uint64_t last = first; last <= n; last += 1 + n / 40) {
      const std::vector<std::uint32_t> expected(whole.begin() + static_cast<std::ptrdiff_t>(first),
                                                whole.begin() + static_cast<std::ptrdiff_t>(last));
      CHECK(places(layout, first, last - first, 1) == expected);
    }
  }
}

void test_places() {
  // By hand: C0 = 2, the channels 0 and 1 of a pixel side by side, channel 2 in the next block.
  const HostLayout image = make_layout({kNc1hwc0, {1, 2, 1, 2, 2}, {1, 3, 1, 2}});
  CHECK_EQ(text(places(image, 0, 6, 1)), "0 2 1 3 4 6 ");
  CHECK_EQ(image.n_stored(), 7U);
  CHECK_EQ(image.order(), "NCHW");
  const HostLayout last = make_layout({kNc1hwc0, {1, 2, 1, 2, 2}, {1, 3, 1, 2}, 0, "NHWC"});
  CHECK_EQ(text(places(last, 0, 6, 1)), "0 1 4 2 3 6 ");
  const HostLayout matrix = make_layout({kFractalNz, {2, 1, 2, 2}, {2, 3}});
  CHECK_EQ(text(places(matrix, 0, 6, 1)), "0 1 4 2 3 6 ");
  CHECK_EQ(matrix.order(), "ND");
  // Two groups of one channel share a block, each on the diagonal.
  const HostLayout weights = make_layout({kFractalZ, {1, 1, 2, 2}, {2, 1, 1, 1}, 2});
  CHECK_EQ(text(places(weights, 0, 2, 1)), "0 3 ");
  CHECK(make_layout({kNd, {2, 3}, {}}).is_identity());
  CHECK(!image.is_identity());
}

// ---- shapes that lie

bool is_refused(const Case& test) {
  try {
    make_layout(test);
  } catch (const LayoutError&) {
    return true;
  }
  return false;
}

void test_hostile() {
  constexpr std::int64_t kBig = std::int64_t{1} << 62;
  CHECK(is_refused({kFractalZWino, {2, 2, 16, 16}, {32, 32}}));
  CHECK(is_refused({1000, {2, 2}, {2, 2}}));
  CHECK(is_refused({kNc1hwc0, {2, 2, 3, 5, 16}, {}}));
  CHECK(is_refused({kNc1hwc0, {2, 2, 3, 5, 0}, {2, 19, 3, 5}}));
  CHECK(is_refused({kNc1hwc0, {2, 2, 3, 5, 16}, {2, -19, 3, 5}}));
  CHECK(is_refused({kNc1hwc0, {kBig, kBig, kBig, kBig, 1}, {kBig, kBig, kBig, kBig}}));
  CHECK(is_refused({kFractalNz, {kBig, kBig, 1, 1}, {kBig, kBig}}));
  CHECK(is_refused({kFractalZ, {1, 1, 16, 16}, {kBig, kBig, kBig, kBig}, 2}));
  CHECK(is_refused({kFractalZ, {4, 1, 16, 16}, {3, 4, 2, 2}, 2}));
  CHECK(is_refused({kFractalZC04, {1, 1, 16, 16}, {1, 5, 1, 1}}));

  std::mt19937 random(2);
  const std::int64_t dims[] = {0, 1, 1, 2, 3, 4, 5, 8, 16, 17, 33, -1, kBig, std::int64_t{1} << 32};
  const std::int64_t formats[] = {kNchw,      kNc1hwc0,   kFractalZ, kFractalZC04, kC1hwncoc0,
                                  kFractalZz, kFractalNz, kNdc1hwc0, kFractalZ3d};
  int n_made = 0;
  for (int i = 0; i < 60000; ++i) {
    // Elements of a list are evaluated in their order.
    Case test{formats[random() % std::size(formats)], Dims(random() % 7), Dims(random() % 6)};
    for (std::int64_t& dim : test.shape) dim = dims[random() % std::size(dims)];
    for (std::int64_t& dim : test.origin_shape) dim = dims[random() % std::size(dims)];
    test.sub_format = static_cast<std::int64_t>(random() % 4);
    if (is_refused(test)) continue;
    ++n_made;
    const HostLayout layout = make_layout(test);
    if (layout.n_stored() > 10000) continue;
    places(layout, 0, layout.n_elements(), 1);
  }
  CHECK(n_made > 300);
}

}  // namespace
}  // namespace fastdump

int main() {
  using namespace fastdump;
  test_boxes();
  test_streamed_lines();
  test_places();
  for (const Case& test : std::initializer_list<Case>{
           {kNc1hwc0, {2, 2, 5, 7, 16}, {2, 19, 5, 7}},
           {kNc1hwc0, {2, 2, 5, 7, 16}, {2, 5, 7, 19}, 0, "HWCN"},
           {kNc1hwc0, {0, 2, 5, 7, 16}, {0, 19, 5, 7}},
           {kNdc1hwc0, {2, 3, 2, 2, 5, 8}, {2, 13, 3, 2, 5}},
           {kFractalZ, {18, 2, 16, 16}, {21, 20, 3, 3}},
           {kFractalZ, {9, 1, 16, 16}, {8, 4, 3, 3}, 4},
           {kFractalZ, {9, 1, 16, 16}, {3, 3, 4, 8}, 4, "NHWC"},
           {kFractalZ3d, {18, 2, 16, 16}, {21, 5, 2, 3, 3}},
           {kFractalZ3d, {12, 2, 16, 16}, {21, 7, 2, 3, 1}, 3},
           {kFractalZC04, {3, 2, 16, 16}, {21, 3, 3, 3}},
           {kC1hwncoc0, {2, 3, 2, 4, 16, 16}, {4, 19, 3, 2}},
           {kFractalNz, {2, 4, 3, 16, 16}, {2, 35, 50}},
           {kFractalNz, {4, 1, 16, 16}, {50}},
           {kFractalZz, {2, 3, 4, 16, 16}, {2, 35, 50}},
           {kNchw, {2, 3, 4, 5}, {}, 0, "NHWC"},
       }) {
    test_ranges(test);
  }
  test_hostile();
  return tests::exit_code();
}
