// The whole pipeline on directories: what is found does not depend on threads, chunks or engines; a
// scan can be stopped; what is no dump is counted.
#include <atomic>
#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "aged_system.hpp"
#include "check.hpp"
#include "core/errors.hpp"
#include "core/io/system.hpp"
#include "core/scan/scan.hpp"
#include "core/scan/scan_table.hpp"
#include "core/table/arrow.hpp"
#include "standard_file.hpp"
#include "table_values.hpp"
#include "temporary_directory.hpp"

namespace fastdump {
namespace {

using namespace tests;
using std::chrono::milliseconds;

// One output of n float32: 0, 1, 2, ... modulo 100, then times scale. The header has a text too.
std::string make_dump(std::size_t n, float scale, std::size_t n_text = 0) {
  std::string payload(n * 4, '\0');
  for (std::size_t i = 0; i < n; ++i) {
    const float value = static_cast<float>(i % 100) * scale;
    std::memcpy(payload.data() + i * 4, &value, 4);
  }
  const std::string header = Message()
                                 .text(1, "2.0")
                                 .text(6, "op")
                                 .text(9, std::string(n_text, 'x'))
                                 .message(3, output({.shape = {n}, .size = n * 4}))
                                 .bytes();
  return little_endian(header.size(), 8) + header + payload;
}

std::string dump_name(std::size_t i) {
  return "Add.op.1.2." + std::to_string(1700000000000000 + i);
}

// Small files in three directories, larger ones between them.
std::vector<std::size_t> write_dumps(const TemporaryDirectory& directory) {
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < 200; ++i) {
    const std::size_t n = i % 50 == 7 ? 3000000 + i : i % 20 == 3 ? 100000 + i : i;
    const std::string where = "20240101000000/" + std::to_string(i % 3) + "/";
    directory.write(where + dump_name(i), make_dump(n, static_cast<float>(i + 1)));
    lengths.push_back(n);
  }
  directory.write("notes.txt", "nothing of interest");
  return lengths;
}

ScanOptions options_for(Engine engine, int threads) {
  ScanOptions options;
  options.level = kernels::Level::basic;
  options.engine = engine;
  options.parallelism = {threads, threads};
  return options;
}

void finish(Scan& scan) {
  scan.start();
  while (!scan.wait_for(milliseconds(100))) {
  }
}

void test_directory(Engine engine, int threads) {
  const TemporaryDirectory directory;
  const std::vector<std::size_t> lengths = write_dumps(directory);
  Scan scan({directory.path()}, options_for(engine, threads));
  finish(scan);
  CHECK_EQ(scan.progress().files_done, lengths.size() + 1);
  CHECK_EQ(scan.progress().tensors, lengths.size());
  CHECK_EQ(scan.progress().bad, 0U);
  CHECK_EQ(scan.tree().skipped.at("text file"), 1U);
  const Table table = make_table(scan);
  CHECK_EQ(table.n_rows, static_cast<std::int64_t>(lengths.size()));
  for (const NamedColumn& named : table.columns) CHECK_EQ(named.column->size(), table.n_rows);
  for (std::size_t row = 0; row < lengths.size(); ++row) {
    const std::string path(text(table, "path", row));
    const std::size_t i = std::stoul(path.substr(path.rfind('.') + 1)) - 1700000000000000;
    CHECK(!is_null(table, "count", row));
    CHECK_EQ(value<std::int64_t>(table, "count", row), static_cast<std::int64_t>(lengths[i]));
    CHECK_EQ(is_null(table, "mean", row), lengths[i] == 0);
    if (lengths[i] == 0) continue;
    double sum = 0;
    for (std::size_t k = 0; k < lengths[i]; ++k) sum += static_cast<double>(k % 100);
    const double mean = sum * static_cast<double>(i + 1) / static_cast<double>(lengths[i]);
    CHECK_EQ(value<double>(table, "mean", row), mean);  // whole numbers: exact
  }
}

// Counts the bytes that are read, and how often a file's state is asked for.
class MeteredSystem final : public tests::AgedSystem {
 public:
  MeteredSystem() : replacement_(*this) {}
  std::uint64_t nbytes() const { return nbytes_; }
  std::size_t n_looks() const { return n_looks_; }

 private:
  int status(int descriptor, FileStatus& status) override {
    ++n_looks_;
    return AgedSystem::status(descriptor, status);
  }
  std::int64_t read(int descriptor, std::span<std::byte> buffer, std::uint64_t offset) override {
    const std::int64_t n = System::read(descriptor, buffer, offset);
    nbytes_ += static_cast<std::uint64_t>(n);
    return n;
  }

  std::atomic<std::uint64_t> nbytes_ = 0;
  std::atomic<std::size_t> n_looks_ = 0;
  const SystemReplacement replacement_;
};

// The first bytes tell what a file is, and are reduced without being read again.
void test_no_byte_is_read_twice() {
  for (const std::size_t n : {100UL, 10'000UL, 60'000UL, 70'000UL, 500'000UL, 1'000'000UL}) {
    const TemporaryDirectory directory;
    const std::string dump = make_dump(n, 1);
    directory.write(dump_name(0), dump);
    const MeteredSystem metered;
    Scan scan({directory.path()}, options_for(Engine::read, 2));
    finish(scan);
    CHECK_EQ(metered.nbytes(), dump.size());
  }
}

// Of headers alone no more is read than a page, or a longer header; and a look at the file's state
// follows each read.
void test_headers_leave_payloads_unread() {
  ScanOptions options;
  options.parallelism = {1, 1};
  for (const std::size_t n_text : {0UL, 9000UL}) {
    for (const std::size_t n : {0UL, 100UL, 10'000UL, 60'000UL, 500'000UL}) {
      const TemporaryDirectory directory;
      const std::string dump = make_dump(n, 1, n_text);
      directory.write(dump_name(0), dump);
      const MeteredSystem metered;
      Scan scan({directory.path()}, options);
      finish(scan);
      CHECK_EQ(make_table(scan).n_rows, 1);
      const bool is_long = n_text > 4096;
      CHECK_EQ(metered.nbytes(),
               is_long ? dump.size() - n * 4 : std::min<std::size_t>(dump.size(), 4096));
      CHECK_EQ(metered.n_looks(), is_long ? 2U : 1U);
    }
  }
}

// Storage that is waited for gives a small file with its header, for whoever reads on.
void test_far_headers_bring_small_files_along() {
  const TemporaryDirectory directory;
  const std::string dump = make_dump(10'000, 1);
  directory.write(dump_name(0), dump);
  ScanOptions options;
  options.parallelism = {1, 4};
  const MeteredSystem metered;
  Scan scan({directory.path()}, options);
  finish(scan);
  CHECK_EQ(metered.nbytes(), dump.size());
}

// A consumer may take children out of an exported table; nothing is freed twice, nothing leaks.
void test_arrow_ownership() {
  const TemporaryDirectory directory;
  directory.write(dump_name(0), make_dump(10, 1));
  Scan scan({directory.path()}, options_for(Engine::read, 1));
  finish(scan);
  auto table = std::make_shared<const Table>(make_table(scan));
  ArrowSchema schema;
  export_schema(*table, schema);
  ArrowArray array;
  export_array(std::move(table), array);
  CHECK_EQ(array.length, 1);
  CHECK_EQ(array.n_children, schema.n_children);
  ArrowArray moved = *array.children[0];
  array.children[0]->release = nullptr;
  array.release(&array);
  CHECK(array.release == nullptr);
  CHECK_EQ(moved.length, 1);
  moved.release(&moved);
  schema.release(&schema);
  CHECK(schema.release == nullptr);
}

void test_stop() {
  const TemporaryDirectory directory;
  write_dumps(directory);
  for (int i = 0; i < 20; ++i) {
    Scan scan({directory.path()}, options_for(Engine::automatic, 3));
    scan.start();
    scan.wait_for(milliseconds(i));
    scan.stop();
    // What is there is whole.
    const Table table = make_table(scan);
    CHECK_EQ(static_cast<std::uint64_t>(table.n_rows), scan.progress().tensors);
    CHECK_EQ(column(table, "count").n_null(), 0);
  }
}

void test_missing_root() {
  Scan scan({"/no/such/directory"}, options_for(Engine::read, 2));
  scan.start();
  bool refused = false;
  try {
    while (!scan.wait_for(milliseconds(100))) {
    }
  } catch (const SystemError& error) {
    refused = error.error_number() == ENOENT && error.path() == "/no/such/directory";
  }
  CHECK(refused);
}

}  // namespace
}  // namespace fastdump

int main() {
  using namespace fastdump;
  for (const Engine engine : {Engine::read, Engine::mmap, Engine::automatic}) {
    for (const int threads : {1, 2, 7}) test_directory(engine, threads);
  }
  test_no_byte_is_read_twice();
  test_headers_leave_payloads_unread();
  test_far_headers_bring_small_files_along();
  test_arrow_ownership();
  test_stop();
  test_missing_root();
  return tests::exit_code();
}
