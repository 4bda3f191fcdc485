// Statistics of one tensor of a file are those of the same bytes in memory, whatever the engine and
// the threads; a file that lacks some of them, and a caller who gives up, get none.
#include <cerrno>
#include <cstring>
#include <functional>
#include <optional>
#include <string>

#include "check.hpp"
#include "core/arrays/reduce_array.hpp"
#include "core/arrays/reduce_file.hpp"
#include "core/dtype.hpp"
#include "core/errors.hpp"
#include "core/size.hpp"
#include "core/stream/stream_sizes.hpp"
#include "file_states.hpp"
#include "temporary_directory.hpp"

namespace fastdump {
namespace {

using kernels::Level;
using kernels::Statistics;
using tests::TemporaryDirectory;

constexpr std::size_t kStart = 13;
constexpr std::size_t kChunkBytes = StreamSizes{}.chunk_nbytes;

bool always() { return true; }

// The elements that lie behind the start.
struct Tensor {
  const DataType* dtype;
  std::uint64_t n_elements;
  std::uint64_t offset = kStart;
};

Tensor make_tensor(std::string_view dtype, std::uint64_t n_elements) {
  return {find_data_type(dtype), n_elements};
}

std::optional<Statistics> reduce(const std::string& path, const Tensor& tensor, Level level,
                                 Engine engine, int threads, const std::function<bool()>& go_on) {
  return reduce_file(path, tests::state_of_file(path), tensor.dtype->element, tensor.offset,
                     tensor.n_elements, level, engine, threads, go_on);
}

std::string make_content(std::size_t nbytes) {
  std::string content(kStart + nbytes, '\0');
  std::uint32_t state = 7;
  for (char& byte : content) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<char>(state >> 25);
  }
  return content;
}

void test_same_as_in_memory(std::string_view dtype, std::uint64_t n_elements) {
  const TemporaryDirectory directory;
  const Tensor tensor = make_tensor(dtype, n_elements);
  const std::string content = make_content(packed_nbytes(n_elements, tensor.dtype->bits));
  const std::string path = directory.write("file", content + "what follows");
  const auto* data = reinterpret_cast<const std::byte*>(content.data()) + kStart;
  for (const Level level : {Level::health, Level::basic, Level::full}) {
    const Statistics expected = reduce_array(tensor.dtype->element, level, data, n_elements, 1);
    for (const Engine engine : {Engine::automatic, Engine::mmap, Engine::read}) {
      for (const int threads : {1, 3}) {
        const auto found = reduce(path, tensor, level, engine, threads, always);
        CHECK(found.has_value());
        CHECK_EQ(found->count, n_elements);
        CHECK_EQ(found->nan, expected.nan);
        CHECK_EQ(found->zero, expected.zero);
        CHECK_EQ(found->first_bad, expected.first_bad);
        CHECK(std::memcmp(&found->mean, &expected.mean, sizeof found->mean) == 0);
        CHECK(std::memcmp(&found->l2norm, &expected.l2norm, sizeof found->l2norm) == 0);
        if (found->finite != 0 && level != Level::health) {
          CHECK_EQ(found->max.u64, expected.max.u64);
          CHECK_EQ(found->min.u64, expected.min.u64);
        }
      }
    }
  }
}

void test_a_file_that_ends_early() {
  const TemporaryDirectory directory;
  const std::string path = directory.write("file", make_content(99));
  for (const std::uint64_t n_elements : {std::uint64_t{100}, UINT64_MAX}) {
    bool failed = false;
    try {
      reduce(path, make_tensor("uint8", n_elements), Level::basic, Engine::automatic, 1, always);
    } catch (const FormatError& error) {
      failed = true;
      CHECK_EQ(error.offset(), kStart + 99);
    }
    CHECK(failed);
  }
  Tensor behind = make_tensor("uint8", 0);
  behind.offset = UINT64_MAX;
  CHECK_EQ(reduce(path, behind, Level::basic, Engine::automatic, 1, always)->count, 0U);
  behind.n_elements = 1;
  bool failed = false;
  try {
    reduce(path, behind, Level::basic, Engine::automatic, 1, always);
  } catch (const FormatError&) {
    failed = true;
  }
  CHECK(failed);
}

void test_no_file() {
  const TemporaryDirectory directory;
  const std::string path = directory.path() / "none";
  int error_number = 0;
  try {
    reduce(path, make_tensor("uint8", 1), Level::basic, Engine::automatic, 1, always);
  } catch (const SystemError& error) {
    error_number = error.error_number();
    CHECK_EQ(error.path(), path);
  }
  CHECK_EQ(error_number, ENOENT);
}

// Sparse, and too much to be done before the caller is asked.
constexpr std::uint64_t kManyElements = std::uint64_t{64} << 30;

// The file loses its end while the caller is asked.
void test_a_file_that_shrinks(Engine engine, int threads) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("file", "");
  std::filesystem::resize_file(path, kStart + kManyElements);
  bool failed = false;
  try {
    reduce(path, make_tensor("uint8", kManyElements), Level::basic, engine, threads, [&] {
      std::filesystem::resize_file(path, kStart);
      return true;
    });
  } catch (const FileChangedError&) {
    failed = true;
  }
  CHECK(failed);
}

// Of the same size, under the same name.
void test_a_file_that_was_replaced(Engine engine, int threads) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("file", make_content(99));
  const FileState before = tests::state_of_file(path);
  std::filesystem::rename(directory.write("new", make_content(99)), path);
  bool failed = false;
  try {
    reduce_file(path, before, find_data_type("uint8")->element, kStart, 99, Level::basic, engine,
                threads, always);
  } catch (const FileChangedError& error) {
    failed = true;
    CHECK_EQ(std::string_view(error.what()), kChangedSince);
  }
  CHECK(failed);
}

void test_giving_up(int threads) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("file", "");
  std::filesystem::resize_file(path, kStart + kManyElements);
  const auto found = reduce(path, make_tensor("uint8", kManyElements), Level::basic,
                            Engine::automatic, threads, [] { return false; });
  CHECK(!found.has_value());
}

}  // namespace
}  // namespace fastdump

int main() {
  using namespace fastdump;
  const std::uint64_t several_chunks = 3 * kChunkBytes + 1001;
  for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{1}, several_chunks}) {
    for (const char* dtype : {"float16", "int8", "int4", "uint1", "bool"}) {
      test_same_as_in_memory(dtype, n);
    }
  }
  test_a_file_that_ends_early();
  test_no_file();
  for (const int threads : {1, 3}) {
    test_a_file_that_shrinks(Engine::mmap, threads);
    test_a_file_that_shrinks(Engine::read, threads);
    test_a_file_that_was_replaced(Engine::mmap, threads);
    test_a_file_that_was_replaced(Engine::read, threads);
    test_giving_up(threads);
  }
  return tests::exit_code();
}
