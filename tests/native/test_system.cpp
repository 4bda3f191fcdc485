// The seam to the operating system: interruptions are not seen above it, short reads are filled up,
// and other failures are told as they are.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "check.hpp"
#include "core/errors.hpp"
#include "core/io/directory.hpp"
#include "core/io/file.hpp"
#include "core/io/last_directory.hpp"
#include "core/io/mapping.hpp"
#include "core/tree/find_files.hpp"
#include "file_states.hpp"
#include "temporary_directory.hpp"
#include "watched_system.hpp"

namespace fastdump {
namespace {

using namespace tests;
using Verdict = WatchedSystem::Verdict;

constexpr std::size_t kNbytes = 10000;

// All that the core does with files, once.
std::string use_files(const TemporaryDirectory& directory) {
  const std::string path = directory.path() / "d/file";
  std::string seen;
  const File opened(File::directory((directory.path() / "d").c_str()), "file");
  seen += std::to_string(opened.error()) + " " + std::to_string(opened.size()) + " " +
          std::to_string(is_on_network(opened)) + "\n";
  std::string bytes(kNbytes + 5, '?');
  const ReadResult read = read_at(opened, std::as_writable_bytes(std::span(bytes)), 0);
  seen += bytes.substr(0, read.nbytes) + std::to_string(read.error) + "\n";
  const auto mapping = map_file(path, state_of_file(path), Access::read_only);
  mapping->drop(0, kNbytes);
  seen += std::to_string(std::memcmp(mapping->data(), bytes.data(), kNbytes)) + "\n";
  const std::atomic<bool> stop = false;
  const FileTree tree = find_files({directory.path()}, {.follow_links = true}, stop);
  for (std::size_t i = 0; i < tree.size(); ++i) seen += tree.shown_path(i) + "\n";
  for (const auto& [reason, n] : tree.skipped) seen += reason + std::to_string(n) + "\n";
  return seen;
}

void write_files(const TemporaryDirectory& directory) {
  directory.write("d/file", std::string(kNbytes, 'x'));
  directory.write("d/9134657216587341217", "y");
  directory.write("d/mapping.csv", "9134657216587341217,Add.a.1.2.1700000000000000\n");
  CHECK_EQ(::symlink("file", (directory.path() / "d/link").c_str()), 0);
}

// Each call alone, then every second one, which is each of them once.
void test_interruptions() {
  const TemporaryDirectory directory;
  write_files(directory);
  std::size_t n_calls = 0;
  const std::string expected = [&] {
    const WatchedSystem watched([](Call, std::size_t) { return Verdict{}; });
    const std::string seen = use_files(directory);
    n_calls = watched.n_calls();
    return seen;
  }();
  CHECK(n_calls > 20);
  for (std::size_t interrupted = 0; interrupted < n_calls; ++interrupted) {
    const WatchedSystem watched(
        [=](Call, std::size_t number) { return Verdict{number == interrupted ? EINTR : 0}; });
    CHECK(use_files(directory) == expected);
  }
  const WatchedSystem watched(
      [](Call, std::size_t number) { return Verdict{number % 2 == 0 ? EINTR : 0}; });
  CHECK(use_files(directory) == expected);
}

void test_short_reads() {
  const TemporaryDirectory directory;
  write_files(directory);
  const std::string expected = use_files(directory);
  for (const std::size_t nbytes : {1UL, 7UL, 4096UL, kNbytes - 1}) {
    const WatchedSystem watched([=](Call, std::size_t) { return Verdict{.max_nbytes = nbytes}; });
    CHECK(use_files(directory) == expected);
  }
}

// What was read before the failure counts.
void test_a_read_that_fails() {
  const TemporaryDirectory directory;
  const File file(directory.write("file", std::string(kNbytes, 'x')).c_str());
  for (const int error : {EIO, ESTALE}) {
    const WatchedSystem watched([=](Call, std::size_t number) {
      return Verdict{.error = number == 3 ? error : 0, .max_nbytes = 100};
    });
    std::vector<std::byte> buffer(kNbytes);
    const ReadResult read = read_at(file, buffer, 50);
    CHECK_EQ(read.nbytes, 300U);
    CHECK_EQ(read.error, error);
  }
}

void test_failures_of_single_calls() {
  const TemporaryDirectory directory;
  const std::string path = directory.write("file", "abc");
  const auto fails = [](Call which, int error) {
    return [=](Call call, std::size_t) { return Verdict{call == which ? error : 0}; };
  };
  {
    const WatchedSystem watched(fails(Call::open, EMFILE));
    CHECK_EQ(File(path.c_str()).error(), EMFILE);
  }
  const File file(path.c_str());
  {
    const WatchedSystem watched(fails(Call::status, ESTALE));
    CHECK_EQ(file.size(), -ESTALE);
  }
  {
    const WatchedSystem watched(fails(Call::map, EACCES));
    const Mapping mapping(file, 3);
    CHECK(mapping.data() == nullptr);
    CHECK_EQ(mapping.error(), EACCES);
  }
  {
    const WatchedSystem watched(fails(Call::is_on_network, EIO));
    CHECK(!is_on_network(file));
  }
  const std::atomic<bool> stop = false;
  {
    const WatchedSystem watched(fails(Call::open_directory, EACCES));
    CHECK_EQ(DirectoryListing(directory.path(), stop).error(), EACCES);
  }
  // A directory that cannot be read to its end tells what it has told so far.
  const WatchedSystem watched([](Call call, std::size_t number) {
    return Verdict{call == Call::next_entry && number == 3 ? EIO : 0};
  });
  const DirectoryListing listing(directory.path(), stop);
  CHECK_EQ(listing.error(), EIO);
  CHECK(listing.entries().size() <= 1);
}

void test_status() {
  const TemporaryDirectory directory;
  const std::string path = directory.write("file", "abc");
  const File file(path.c_str());
  FileStatus before;
  CHECK_EQ(file.status(before), 0);
  CHECK(before.type == FileType::regular);
  CHECK_EQ(before.nbytes, 3U);
  FileStatus same;
  CHECK_EQ(File(path.c_str()).status(same), 0);
  CHECK(same.inode == before.inode && same.device == before.device &&
        same.changed_ns == before.changed_ns && same.modified_ns == before.modified_ns);
  std::filesystem::rename(directory.write("other", "abc"), path);
  FileStatus replaced;
  CHECK_EQ(File(path.c_str()).status(replaced), 0);
  CHECK(replaced.inode != before.inode);
}

// Where the listing shows no mapping.csv, nobody looks for one.
void test_no_probe_for_a_mapping() {
  const TemporaryDirectory directory;
  directory.write("9134657216587341217", "y");
  std::atomic<int> n_opened = 0;
  const WatchedSystem watched([&](Call call, std::size_t) {
    n_opened += call == Call::open ? 1 : 0;
    return Verdict{};
  });
  const std::atomic<bool> stop = false;
  CHECK_EQ(find_files({directory.path()}, {}, stop).size(), 1U);
  CHECK_EQ(n_opened, 0);
  directory.write("mapping.csv", "9134657216587341217,Add.a.1.2.1700000000000000\n");
  const FileTree tree = find_files({directory.path()}, {}, stop);
  CHECK_EQ(n_opened, 1);
  CHECK(tree.real_name(0) == "Add.a.1.2.1700000000000000");
}

// A directory is opened once for the files that follow each other in it.
void test_last_directory() {
  const TemporaryDirectory directory;
  directory.write("d/file", "x");
  directory.write("d/other", "yz");
  directory.write("e/file", "123");
  const std::string d = directory.path() / "d";
  const std::string e = directory.path() / "e";
  std::size_t n_opened = 0;
  std::size_t n_closed = 0;
  std::size_t failing = SIZE_MAX;  // the number of the open that fails
  int error = 0;
  const WatchedSystem watched([&](Call call, std::size_t) {
    if (call == Call::close) ++n_closed;
    if (call != Call::open) return Verdict{};
    return n_opened++ == failing ? Verdict{.error = error} : Verdict{};
  });
  LastDirectory last;
  CHECK_EQ(last.open(d, "file")->size(), 1);
  CHECK_EQ(last.open(d, "other")->size(), 2);
  CHECK_EQ(last.open(d, "none")->error(), ENOENT);
  CHECK_EQ(n_opened, 4U);
  CHECK_EQ(last.open(e, "file")->size(), 3);
  CHECK_EQ(last.open(d, "file")->size(), 1);
  CHECK_EQ(n_opened, 8U);

  // One that cannot be opened is not tried for each file.
  failing = n_opened;
  error = EACCES;
  CHECK(!last.open(e, "file"));
  CHECK(!last.open(e, "file"));
  CHECK_EQ(n_opened, 9U);

  // What is scarce may be there later; meanwhile nothing is kept open.
  error = EMFILE;
  for (const std::size_t number : {0U, 1U}) {
    LastDirectory another;
    failing = n_opened + number;
    n_closed = 0;
    CHECK(!another.open(e, "file"));
    CHECK_EQ(n_closed, number);
    CHECK_EQ(another.open(e, "file")->size(), 3);
  }
}

}  // namespace
}  // namespace fastdump

int main() {
  using namespace fastdump;
  test_interruptions();
  test_short_reads();
  test_a_read_that_fails();
  test_failures_of_single_calls();
  test_status();
  test_no_probe_for_a_mapping();
  test_last_directory();
  return tests::exit_code();
}
