// A tree of files while it grows: what was added stays where it is, other threads read it, and rows
// come in the same order however far the walk was when their files were scanned.
#include <atomic>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "check.hpp"
#include "core/concurrency/append_only.hpp"
#include "core/scan/scan.hpp"
#include "core/scan/scan_table.hpp"
#include "core/tree/walk.hpp"
#include "table_values.hpp"
#include "temporary_directory.hpp"

namespace fastdump {
namespace {

using namespace tests;

std::string numbered(std::string_view word, std::size_t number) {
  return std::string(word) += std::to_string(number);
}

void test_elements_stay() {
  AppendOnly<std::string> texts;
  std::vector<const std::string*> places;
  for (std::size_t i = 0; i < 5000; ++i) {
    texts.push_back(numbered("text ", i));
    places.push_back(&texts[i]);
    CHECK_EQ(texts.size(), i + 1);
  }
  for (std::size_t i = 0; i < 5000; ++i) {
    CHECK(&texts[i] == places[i]);
    CHECK_EQ(texts[i], numbered("text ", i));
  }
  const AppendOnly<std::string> moved = std::move(texts);
  CHECK_EQ(moved.size(), 5000U);
  CHECK(&moved[4999] == places[4999]);
}

void test_names_of_any_length() {
  FileTree tree;
  std::vector<std::string> names;
  tree.add_directory({.path = "d", .relative = "r", .where = {}, .real_names = {}});
  for (std::size_t i = 0; i < 300; ++i) {
    names.push_back(std::string(i % 7 == 0 ? 70000 : i, static_cast<char>('a' + i % 26)));
    tree.add_file(0, names.back());
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    CHECK(tree.name(i) == names[i]);
    CHECK_EQ(tree.shown_path(i), std::string("r/") += names[i]);
  }
}

void test_read_while_it_grows() {
  constexpr std::size_t kFiles = 20000;
  FileTree tree;
  std::atomic<std::size_t> known = 0;
  std::vector<std::thread> readers;
  std::atomic<std::size_t> n_wrong = 0;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      for (std::size_t file = 0; file < kFiles;) {
        if (file == known.load(std::memory_order_acquire)) continue;
        const std::string expected = std::to_string(file);
        const bool is_right =
            tree.name(file) == expected && tree.directory(file).path == numbered("d", file / 10);
        n_wrong += is_right ? 0 : 1;
        ++file;
      }
    });
  }
  std::uint32_t directory = 0;
  for (std::size_t file = 0; file < kFiles; ++file) {
    if (file % 10 == 0) {
      Directory next;
      next.path = numbered("d", file / 10);
      directory = tree.add_directory(std::move(next));
    }
    tree.add_file(directory, std::to_string(file));
    known.store(file + 1, std::memory_order_release);
  }
  for (std::thread& reader : readers) reader.join();
  CHECK_EQ(n_wrong.load(), 0U);
}

std::vector<std::string> paths_of(const std::string& root, int threads) {
  ScanOptions options;
  options.parallelism = {threads, threads};
  Scan scan({root}, options);
  scan.start();
  while (!scan.wait_for(std::chrono::milliseconds(100))) {
  }
  CHECK_EQ(scan.progress().files_done, scan.progress().files_found);
  CHECK(!scan.progress().walking);
  const Table table = make_table(scan);
  std::vector<std::string> paths;
  for (std::size_t row = 0; row < static_cast<std::size_t>(table.n_rows); ++row) {
    paths.emplace_back(text(table, "path", row));
  }
  return paths;
}

// Bytes that are no dump give a row under the name of one.
void test_order_of_rows() {
  const TemporaryDirectory directory;
  std::vector<std::string> expected;
  for (int step = 0; step < 150; ++step) {
    for (int i = 0; i < 4; ++i) {
      // Names are in another order than times.
      const std::string path = "20240101000000/0/m/1/" + std::to_string(step) + "/" +
                               std::string(1, static_cast<char>('d' - i)) + ".op.1.2." +
                               std::to_string(1700000000000000 + i);
      directory.write(path, "no dump");
      expected.push_back(path);
    }
  }
  for (const int threads : {1, 2, 3, 16}) {
    CHECK(paths_of(directory.path(), threads) == expected);
  }
}

// What nothing else puts in order comes in that of the paths, part by part, whichever thread listed
// a directory first.
void test_order_of_paths() {
  const TemporaryDirectory directory;
  std::vector<std::string> expected;
  for (const char* const parent : {"", "a/", "a/b/", "a/b/c/", "a/b-c/", "a-b/", "a.b/", "ab/"}) {
    for (const char* const name : {"A.x.1.2.1700000000000000", "B.x.1.2.1700000000000000"}) {
      expected.push_back(std::string(parent) += name);
      directory.write(expected.back(), "no dump");
    }
  }
  for (int round = 0; round < 20; ++round) {
    for (const int threads : {1, 2, 16}) CHECK(paths_of(directory.path(), threads) == expected);
  }
}

}  // namespace
}  // namespace fastdump

int main() {
  using namespace fastdump;
  test_elements_stay();
  test_names_of_any_length();
  test_read_while_it_grows();
  test_order_of_rows();
  test_order_of_paths();
  return tests::exit_code();
}
