// Large files: chunks of many tensors, by either engine and several threads, of stored or of
// logical elements, and files that are no longer what they were when they were located.
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "core/active_tier.hpp"
#include "core/dtype.hpp"
#include "core/scan/file_job.hpp"
#include "core/scan/logical_tensor.hpp"
#include "core/stream/stream_sizes.hpp"
#include "file_states.hpp"
#include "temporary_directory.hpp"
#include "watched_system.hpp"

namespace fastdump {
namespace {

using kernels::Level;
using tests::Call;
using tests::TemporaryDirectory;
using tests::WatchedSystem;

// Two tensors behind 13 bytes of something: chunk boundaries fall on no page.
constexpr std::size_t kStart = 13;
constexpr std::size_t kChunkBytes = StreamSizes{}.chunk_nbytes;
constexpr std::size_t kFloats = 5 * kChunkBytes / 4 + 12345;
constexpr std::size_t kBytes = kChunkBytes + 777;

std::string make_file() {
  std::string bytes(kStart + kFloats * 4 + kBytes, '\0');
  for (std::size_t i = 0; i < kFloats; ++i) {
    const auto value = static_cast<float>(i % 1000) - 200.0F;
    std::memcpy(bytes.data() + kStart + i * 4, &value, 4);
  }
  std::memset(bytes.data() + kStart + kFloats * 4, 3, kBytes);
  return bytes;
}

FileRows make_rows(const std::string& path) {
  FileRows rows;
  rows.state = tests::state_of_file(path);
  rows.tensors.resize(2);
  TensorDescription& floats = rows.tensors[0].tensor;
  floats.dtype = find_data_type("float32");
  floats.n_elements = kFloats;
  floats.offset = kStart;
  TensorDescription& bytes = rows.tensors[1].tensor;
  bytes.dtype = find_data_type("uint8");
  bytes.n_elements = kBytes;
  bytes.offset = kStart + kFloats * 4;
  return rows;
}

FileRows run(FileJob& job, int n_threads) {
  FileRows rows;
  std::vector<std::thread> threads;
  for (int i = 0; i < n_threads; ++i) {
    threads.emplace_back([&] {
      Reduction::Thread thread(active_tier(), Level::full);
      while (true) {
        const Step step = job.step(thread);
        if (step.is_last) rows = job.finish();
        if (step.nbytes == 0) return;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return rows;
}

void test_whole(Engine engine, int n_threads) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("file", make_file());
  EngineMeter meter;
  FileJob job(File(path.c_str()), kStart + kFloats * 4 + kBytes, make_rows(path), {}, engine,
              meter);
  const FileRows rows = run(job, n_threads);
  CHECK_EQ(rows.tensors.size(), 2U);
  const auto& floats = *rows.tensors[0].statistics;
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < kFloats; ++i) {
    const double value = static_cast<double>(i % 1000) - 200;
    sum += value;  // whole numbers: exact
    squares += value * value;
  }
  CHECK_EQ(floats.count, kFloats);
  CHECK_EQ(floats.max.f64, 799.0);
  CHECK_EQ(floats.min.f64, -200.0);
  CHECK_EQ(floats.mean, sum / static_cast<double>(kFloats));
  CHECK_EQ(floats.l2norm, std::sqrt(squares));
  CHECK_EQ(floats.zero, (kFloats + 799) / 1000);
  const auto& bytes = *rows.tensors[1].statistics;
  CHECK_EQ(bytes.count, kBytes);
  CHECK_EQ(bytes.max.u64, 3U);
  CHECK_EQ(bytes.min.u64, 3U);
  CHECK_EQ(bytes.mean, 3.0);
}

// Of a file that is not what it was when it was located nothing is said but that.
void check_changed(const FileRows& rows) {
  CHECK(rows.tensors.empty());
  CHECK(rows.status == Status::changed);
  CHECK(!rows.state.has_value());
  CHECK_EQ(rows.note.text(), "the file changed while it was read");
}

// Cut after it was located, so that a mapping is longer than the file.
void test_shrunken(Engine engine, std::size_t n_left) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("file", make_file());
  EngineMeter meter;
  FileJob job(File(path.c_str()), kStart + kFloats * 4 + kBytes, make_rows(path), {}, engine,
              meter);
  std::filesystem::resize_file(path, n_left);
  check_changed(run(job, 3));
}

void test_rewritten(Engine engine) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("file", make_file());
  EngineMeter meter;
  FileJob job(File(path.c_str()), kStart + kFloats * 4 + kBytes, make_rows(path), {}, engine,
              meter);
  directory.write("file", std::string(kStart + kFloats * 4 + kBytes, 'x'));
  check_changed(run(job, 3));
}

// A matrix in FRACTAL_NZ, of columns of blocks: a chunk of its rows lies all over the tensor.
constexpr std::int64_t kFractalNz = 29;
constexpr std::int64_t kRows = 2000;
constexpr std::int64_t kColumns = 1601;
constexpr std::int64_t kStoredColumns = 1616;

FileRows make_matrix_row(const std::string& path) {
  FileRows rows;
  rows.state = tests::state_of_file(path);
  rows.tensors.resize(1);
  TensorRow& row = rows.tensors[0];
  row.tensor.dtype = find_data_type("float32");
  row.tensor.format = kFractalNz;
  row.tensor.shape = {kStoredColumns / 16, kRows / 16, 16, 16};
  row.tensor.origin_shape = {kRows, kColumns};
  row.tensor.n_elements = kRows * kStoredColumns;
  row.tensor.offset = kStart;
  std::string why;
  row.logical = find_logical_elements(row.tensor, why);
  CHECK_EQ(why, "");
  return rows;
}

// Ones, and a million in the padding.
std::string make_matrix_file() {
  std::string bytes(kStart + kRows * kStoredColumns * 4, '\0');
  for (std::int64_t i = 0; i < kRows * kStoredColumns; ++i) {
    const std::int64_t column = i / (kRows * 16) * 16 + i % 16;
    const float value = column < kColumns ? 1.0F : 1e6F;
    std::memcpy(bytes.data() + kStart + i * 4, &value, 4);
  }
  return bytes;
}

void test_gathered(Engine engine, int n_threads) {
  const TemporaryDirectory directory;
  const std::string bytes = make_matrix_file();
  const std::string path = directory.write("file", bytes);
  EngineMeter meter;
  FileJob job(File(path.c_str()), bytes.size(), make_matrix_row(path), {}, engine, meter);
  const FileRows rows = run(job, n_threads);
  const kernels::Statistics& matrix = *rows.tensors[0].statistics;
  CHECK_EQ(matrix.count, static_cast<std::uint64_t>(kRows * kColumns));
  CHECK_EQ(matrix.max.f64, 1.0);
  CHECK_EQ(matrix.mean, 1.0);
  CHECK(rows.tensors[0].tensor.status == Status::ok);
}

void test_gathered_shrunken(std::size_t n_left) {
  const TemporaryDirectory directory;
  const std::string bytes = make_matrix_file();
  const std::string path = directory.write("file", bytes);
  EngineMeter meter;
  FileJob job(File(path.c_str()), bytes.size(), make_matrix_row(path), {}, Engine::automatic,
              meter);
  std::filesystem::resize_file(path, n_left);
  check_changed(run(job, 3));
}

FileRows run_failing(Call failing, FileRows (*make_rows_of)(const std::string&),
                     const std::string& bytes) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("file", bytes);
  const WatchedSystem watched(
      [=](Call call, std::size_t) { return WatchedSystem::Verdict{call == failing ? EIO : 0}; });
  EngineMeter meter;
  FileJob job(File(path.c_str()), bytes.size(), make_rows_of(path), {}, Engine::read, meter);
  return run(job, 2);
}

void test_not_mapped() {
  const FileRows rows = run_failing(Call::map, make_matrix_row, make_matrix_file());
  CHECK_EQ(rows.tensors[0].tensor.note.text().find("padding included: the file cannot be mapped"),
           0U);
  CHECK_EQ(rows.tensors[0].statistics->max.f64, 1e6);
}

void test_unreadable() {
  const FileRows rows = run_failing(Call::read, make_rows, make_file());
  CHECK(rows.tensors[0].tensor.status == Status::unreadable);
  CHECK_EQ(rows.tensors[0].statistics->count, 0U);
  CHECK(rows.tensors[0].tensor.note.text().find("Input/output error") != std::string::npos);
}

// Whether the file stayed as it was cannot be told.
void test_unknown_state() {
  const FileRows rows = run_failing(Call::status, make_rows, make_file());
  CHECK(rows.tensors.empty());
  CHECK(rows.status == Status::unreadable);
  CHECK_EQ(rows.note.text(), "Input/output error");
}

}  // namespace
}  // namespace fastdump

int main() {
  using namespace fastdump;
  for (const Engine engine : {Engine::read, Engine::mmap, Engine::automatic}) {
    for (const int n_threads : {1, 2, 7}) test_whole(engine, n_threads);
    const std::size_t end_of_floats = kStart + kFloats * 4;
    for (const std::size_t n_left :
         {std::size_t{0}, kStart, kChunkBytes, 2 * kChunkBytes + kStart + 3, end_of_floats,
          end_of_floats + 1, end_of_floats + kBytes - 1}) {
      test_shrunken(engine, n_left);
    }
    test_rewritten(engine);
  }
  for (const Engine engine : {Engine::read, Engine::automatic}) {
    for (const int n_threads : {1, 3}) test_gathered(engine, n_threads);
  }
  const std::size_t matrix_nbytes = kStart + kRows * kStoredColumns * 4;
  for (const std::size_t n_left : {std::size_t{0}, matrix_nbytes / 2, matrix_nbytes - 100}) {
    test_gathered_shrunken(n_left);
  }
  test_not_mapped();
  test_unreadable();
  test_unknown_state();
  return tests::exit_code();
}
