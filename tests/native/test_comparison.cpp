// Comparisons of files by either engine and several threads, and of files that are no longer what
// they were when it began.
#include <atomic>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "core/active_tier.hpp"
#include "core/compare/comparison.hpp"
#include "core/compare/comparison_table.hpp"
#include "core/compare/pair_pass.hpp"
#include "core/io/mapping.hpp"
#include "core/io/page_guard.hpp"
#include "core/layout/host_layout.hpp"
#include "core/layout/logical_elements.hpp"
#include "file_states.hpp"
#include "temporary_directory.hpp"
#include "watched_system.hpp"

namespace fastdump {
namespace {

using std::chrono::milliseconds;
using tests::TemporaryDirectory;

// Behind 13 bytes of something: chunk boundaries fall on no page.
constexpr std::size_t kStart = 13;
constexpr std::size_t kChunk = std::size_t{4} << 20;
constexpr std::size_t kFloats = 5 * (std::size_t{4} << 20) / 4 + 12345;

// Whole numbers, so that every sum is exact, and none is 0.
float value_a(std::size_t i) { return static_cast<float>(i % 1000 + 1); }
float value_b(std::size_t i) { return value_a(i) + (i % 3 == 0 ? 1.0F : 0.0F); }

template <class Value>
std::string make_file(std::size_t n, Value value) {
  std::string bytes(kStart + n * 4, '\0');
  for (std::size_t i = 0; i < n; ++i) {
    const float x = value(i);
    std::memcpy(bytes.data() + kStart + i * 4, &x, 4);
  }
  return bytes;
}

TensorPlace float_place(const std::string& path, std::size_t n) {
  return {path, tests::state_of_file(path), kStart, find_data_type("float32"), n, nullptr};
}

ComparisonOptions options_for(Engine engine, int threads, bool divergence = false) {
  return {{0, 0.5}, divergence, {threads, threads}, engine};
}

void finish(Comparison& comparison) {
  comparison.start();
  while (!comparison.wait_for(milliseconds(100))) {
  }
}

void check_first(const kernels::PairStatistics& statistics, std::size_t n) {
  const std::size_t n_different = (n + 2) / 3;
  CHECK_EQ(statistics.count, n);
  CHECK_EQ(statistics.finite, n);
  CHECK_EQ(statistics.mismatched, n_different);
  CHECK_EQ(statistics.first_mismatch, n == 0 ? -1 : 0);
  CHECK_EQ(statistics.max_abs_error, n == 0 ? 0.0 : 1.0);
  CHECK_EQ(statistics.max_abs_error_index, n == 0 ? -1 : 0);
  if (n == 0) return;
  const auto share = static_cast<double>(n_different) / static_cast<double>(n);
  CHECK_EQ(statistics.mean_abs_error, share);
  CHECK(std::abs(statistics.rmse - std::sqrt(share)) < 1e-15);
  // No zero that a lost page reads as may count.
  CHECK_EQ(statistics.a.min, 1.0);
  CHECK(statistics.b.min >= 1.0);
}

// Small pairs between large ones, each beside the neighbours of its files.
void test_list(Engine engine, int threads) {
  const TemporaryDirectory directory;
  const std::string a = directory.write("a", make_file(kFloats, value_a));
  const std::string b = directory.write("b", make_file(kFloats, value_b));
  std::vector<TensorPair> pairs;
  for (std::size_t i = 0; i < 60; ++i) {
    const std::size_t n = i % 20 == 7 ? kFloats - i : i % 5 == 3 ? 40000 + i : 3 + i;
    pairs.push_back({float_place(a, n), float_place(b, n)});
  }
  Comparison comparison(pairs, options_for(engine, threads, true));
  finish(comparison);
  CHECK_EQ(comparison.progress().pairs_done, pairs.size());
  CHECK_EQ(comparison.results().size(), pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const PairResult& result = comparison.results()[i];
    CHECK(result.is_done);
    CHECK(result.status == Status::ok);
    check_first(*result.statistics, pairs[i].a.n_elements);
    CHECK(result.divergence.has_value() && *result.divergence >= 0);
  }
  const Table table = make_table(comparison.results());
  CHECK_EQ(table.n_rows, static_cast<std::int64_t>(pairs.size()));
  for (const NamedColumn& column : table.columns) CHECK_EQ(column.column->size(), table.n_rows);
}

// A pair of small files takes an open, a read and a look at the state of either, and their
// directories an open each.
void test_calls_of_small_files() {
  constexpr std::size_t kPairs = 20;
  const TemporaryDirectory directory;
  std::vector<TensorPair> pairs;
  for (std::size_t i = 0; i < kPairs; ++i) {
    const std::string name = std::to_string(i);
    const std::string a = directory.write("a/" + name, make_file(100 + i, value_a));
    const std::string b = directory.write("b/" + name, make_file(100 + i, value_b));
    // Two tensors of one file.
    for (const std::size_t n : {100 + i, 50 + i}) {
      pairs.push_back({float_place(a, n), float_place(b, n)});
    }
  }
  std::map<tests::Call, std::size_t> n_calls;
  const tests::WatchedSystem watched([&](tests::Call call, std::size_t) {
    ++n_calls[call];
    return tests::WatchedSystem::Verdict{};
  });
  Comparison comparison(pairs, options_for(Engine::automatic, 1));
  finish(comparison);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    check_first(*comparison.results()[i].statistics, pairs[i].a.n_elements);
  }
  CHECK_EQ(n_calls[tests::Call::open], 2 * kPairs + 2);
  CHECK_EQ(n_calls[tests::Call::read], 2 * kPairs);
  CHECK_EQ(n_calls[tests::Call::status], 2 * kPairs);
}

std::shared_ptr<Source> open_shared(const std::string& path) {
  OpenFile open(path);
  return std::make_shared<Source>(std::move(open.file), open.state, open.size);
}

PairOfStrips float_strips(const std::string& path_a, const std::string& path_b, std::size_t n) {
  using kernels::Element;
  PairOfStrips strips = {Element::float32, Element::float32, {}, {}};
  strips.sources = {open_shared(path_a), open_shared(path_b)};
  strips.track = {{Strip{kStart, 32, nullptr}, Strip{kStart, 32, nullptr}}, n};
  return strips;
}

void run(PairPass& pass, int n_threads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < n_threads; ++i) {
    threads.emplace_back([&] {
      PairPass::Thread thread(active_tier(), {0, 0.5});
      while (pass.step(thread).nbytes != 0) {
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// One pass over files that were cut after it was planned, so that mappings are longer than their
// files.
void test_shrunken(Engine engine, std::size_t n_left_a, std::size_t n_left_b) {
  const TemporaryDirectory directory;
  const std::string path_a = directory.write("a", make_file(kFloats, value_a));
  const std::string path_b = directory.write("b", make_file(kFloats, value_b));
  const PairOfStrips strips = float_strips(path_a, path_b, kFloats);
  EngineMeter meter;
  PairPass pass(strips, std::nullopt, engine, meter, kChunk);
  CHECK_EQ(strips.sources[0]->map(), 0);
  CHECK_EQ(strips.sources[1]->map(), 0);
  for (const auto& [path, n_left] : {std::pair(path_a, n_left_a), std::pair(path_b, n_left_b)}) {
    if (n_left < std::filesystem::file_size(path)) std::filesystem::resize_file(path, n_left);
  }
  run(pass, 3);
  constexpr std::size_t kNbytes = kStart + kFloats * 4;
  CHECK_EQ(strips.sources[0]->check_state(), n_left_a == kNbytes ? 0 : kFileChanged);
  CHECK_EQ(strips.sources[1]->check_state(), n_left_b == kNbytes ? 0 : kFileChanged);
}

// A host array of value_a() in blocks of 16 x 16, and how it lies in them.
constexpr std::size_t kRows = 2000;
constexpr std::size_t kColumns = 1600;
constexpr std::size_t kBlocked = kRows * kColumns;  // no padding

std::size_t blocked_index(std::size_t i) {
  const std::size_t block = i / 256;  // blocks of a column lie behind each other
  const std::size_t row = block % (kRows / 16) * 16 + i % 256 / 16;
  return row * kColumns + block / (kRows / 16) * 16 + i % 16;
}

HostLayout blocked_layout() {
  const auto rows = static_cast<std::int64_t>(kRows);
  const auto columns = static_cast<std::int64_t>(kColumns);
  constexpr std::int64_t kFractalNz = 29;
  const std::vector<std::int64_t> stored = {columns / 16, rows / 16, 16, 16};
  const std::vector<std::int64_t> host = {rows, columns};
  return HostLayout(StoredTensor{kFractalNz, stored, host});
}

// The file with the blocks is cut after one chunk of a pass.
void test_shrunken_blocks(std::size_t n_left, bool as_b) {
  const TemporaryDirectory directory;
  const auto value = as_b ? value_b : value_a;
  const std::string path = directory.write(
      "blocks", make_file(kBlocked, [&](std::size_t i) { return value(blocked_index(i)); }));
  const std::string other = directory.write("other", make_file(kBlocked, as_b ? value_a : value_b));
  std::string why;
  auto logical = make_logical_elements(blocked_layout(), 32, why);
  CHECK(logical.has_value() && why.empty());
  PairOfStrips strips = float_strips(as_b ? other : path, as_b ? path : other, kBlocked);
  strips.track.sides[as_b ? 1 : 0].gathered =
      std::make_shared<const LogicalElements>(*std::move(logical));
  EngineMeter meter;
  PairPass pass(strips, std::nullopt, Engine::automatic, meter, kChunk);
  PairPass::Thread thread(active_tier(), {0, 0.5});
  const std::size_t n_done = pass.step(thread).nbytes / 8;
  CHECK(n_done > 0 && n_done < kBlocked);
  std::filesystem::resize_file(path, n_left);
  run(pass, 3);
  for (const std::size_t side : {0UL, 1UL}) {
    const bool is_cut = strips.sources[side] == strips.sources[as_b ? 1 : 0];
    CHECK_EQ(strips.sources[side]->check_state(), is_cut ? kFileChanged : 0);
  }
}

// A page of either side, or of both, is gone while both are guarded.
void test_two_guards() {
  const TemporaryDirectory directory;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::string path_a = directory.write("a", std::string(3 * page, 'a'));
  const std::string path_b = directory.write("b", std::string(3 * page, 'b'));
  const File file_a(path_a.c_str());
  const File file_b(path_b.c_str());
  install_page_guard();
  for (int round = 0; round < 2; ++round) {
    const Mapping mapping_a(file_a, 3 * page);
    const Mapping mapping_b(file_b, 3 * page);
    std::filesystem::resize_file(round == 0 ? path_a : path_b, page);
    std::atomic<bool> lost_a = false;
    std::atomic<bool> lost_b = false;
    {
      const PageGuard guard_a(mapping_a.data(), mapping_a.nbytes(), lost_a);
      const PageGuard guard_b(mapping_b.data(), mapping_b.nbytes(), lost_b);
      const volatile std::byte* a = mapping_a.data();
      const volatile std::byte* b = mapping_b.data();
      CHECK(a[0] == std::byte{'a'});
      CHECK(b[0] == std::byte{'b'});
      CHECK(!lost_a && !lost_b);
      CHECK(a[2 * page] == std::byte{0});
      CHECK(lost_a);
      CHECK(b[2 * page] == (round == 0 ? std::byte{'b'} : std::byte{0}));
      CHECK_EQ(lost_b, round == 1);
    }
    // A slot is free again for the next guard of this thread.
    std::atomic<bool> lost = false;
    const PageGuard guard(mapping_a.data(), mapping_a.nbytes(), lost);
    const volatile std::byte* a = mapping_a.data();
    CHECK(a[page + 1] == std::byte{0});
    CHECK(lost);
  }
}

void test_stop() {
  const TemporaryDirectory directory;
  const std::string a = directory.write("a", make_file(kFloats, value_a));
  const std::string b = directory.write("b", make_file(kFloats, value_b));
  std::vector<TensorPair> pairs;
  for (std::size_t i = 0; i < 400; ++i) {
    const std::size_t n = i % 10 == 3 ? kFloats : 1000;
    pairs.push_back({float_place(a, n), float_place(b, n)});
  }
  for (int i = 0; i < 12; ++i) {
    Comparison comparison(pairs, options_for(Engine::automatic, 3, true));
    comparison.start();
    comparison.wait_for(milliseconds(2 * i));
    comparison.stop();
    // What is there is whole.
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      const PairResult& result = comparison.results()[k];
      if (!result.is_done) continue;
      CHECK(result.divergence.has_value());
      check_first(*result.statistics, pairs[k].a.n_elements);
    }
    CHECK_EQ(make_table(comparison.results()).n_rows, static_cast<std::int64_t>(pairs.size()));
  }
}

}  // namespace
}  // namespace fastdump

int main() {
  using namespace fastdump;
  constexpr std::size_t kEnd = kStart + kFloats * 4;
  for (const Engine engine : {Engine::read, Engine::mmap, Engine::automatic}) {
    for (const int threads : {1, 2, 7}) test_list(engine, threads);
    test_shrunken(engine, kEnd, kEnd);
    test_shrunken(engine, 0, kEnd);
    test_shrunken(engine, kEnd, kStart + 5);
    test_shrunken(engine, kChunk, 2 * kChunk + kStart + 3);
    test_shrunken(engine, kEnd - 1, 3 * kChunk);
    test_shrunken(engine, 2 * kChunk, 2 * kChunk);
  }
  for (const bool as_b : {false, true}) {
    test_shrunken_blocks(0, as_b);
    test_shrunken_blocks(kChunk / 2, as_b);
    test_shrunken_blocks(kStart + kBlocked * 4 - 1, as_b);
  }
  test_calls_of_small_files();
  test_two_guards();
  test_stop();
  return tests::exit_code();
}
