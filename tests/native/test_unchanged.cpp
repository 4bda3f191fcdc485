// Which files are as they were when an earlier table was made of them.

#include "core/tree/unchanged.hpp"

#include <sys/stat.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "check.hpp"
#include "core/io/file_state.hpp"
#include "temporary_directory.hpp"

namespace fastdump {
namespace {

using tests::TemporaryDirectory;

std::int64_t state_at(const std::string& path) {
  FileStatus status;
  CHECK_EQ(system().status_of_path(path.c_str(), Links::follow, status), 0);
  return static_cast<std::int64_t>(state_of(status));
}

// An earlier table that is written row by row.
class Earlier {
 public:
  void add(std::string_view path, std::int64_t state) {
    paths_ += path;
    ends_.push_back(paths_.size());
    states_.push_back(state);
  }
  EarlierRows rows() const { return {paths_, ends_, states_}; }

 private:
  std::string paths_;
  std::vector<std::uint64_t> ends_;
  std::vector<std::int64_t> states_;
};

struct Answer {
  std::string to_read;  // paths, each with a blank behind it, in the order of the index
  std::string is_kept;  // a digit a row
};

Answer ask(const TemporaryDirectory& directory, const Earlier& earlier,
           const WalkOptions& options = {}) {
  const std::atomic<bool> stop = false;
  const Index index(walk_roots({directory.path()}, options, stop));
  Index::Positions all(index.size());
  std::iota(all.begin(), all.end(), 0U);
  const Unchanged found = find_unchanged(index, all, earlier.rows(), {}, {2, 2}, stop);
  Answer answer;
  for (const std::uint32_t position : found.to_read) {
    answer.to_read += index.shown_path(position) + " ";
  }
  for (const std::uint8_t kept : found.is_kept) answer.is_kept += kept != 0 ? '1' : '0';
  return answer;
}

void test_keeps_files_in_the_same_state() {
  const TemporaryDirectory directory;
  Earlier earlier;
  // Rows of a file need not be neighbours.
  const std::int64_t a = state_at(directory.write("a", "1"));
  const std::int64_t b = state_at(directory.write("sub/b", "1"));
  earlier.add("a", a);
  earlier.add("a", a);
  earlier.add("sub/b", b);
  earlier.add("a", a);
  earlier.add("gone", b);
  directory.write("sub/new", "1");
  Answer answer = ask(directory, earlier);
  CHECK_EQ(answer.to_read, "sub/new ");
  CHECK_EQ(answer.is_kept, "11110");
  directory.write("a", "22");
  answer = ask(directory, earlier);
  CHECK_EQ(answer.to_read, "a sub/new ");
  CHECK_EQ(answer.is_kept, "00100");
}

void test_reads_what_is_not_certain() {
  const TemporaryDirectory directory;
  Earlier earlier;
  earlier.add("unknown", 0);
  directory.write("unknown", "1");
  // Two rows that contradict each other.
  const std::int64_t torn = state_at(directory.write("torn", "1"));
  earlier.add("torn", torn);
  earlier.add("torn", torn + 1);
  // What mapping.csv says of it may be another name now.
  earlier.add("123", state_at(directory.write("123", "1")));
  // A name that rows show in the same way as another one.
  earlier.add("x\\xff", state_at(directory.write("x\\xff", "1")));
  const Answer answer = ask(directory, earlier);
  CHECK_EQ(answer.to_read, "123 torn unknown x\\xff ");
  CHECK_EQ(answer.is_kept, "00000");
}

void test_follows_links_to_the_file() {
  const TemporaryDirectory directory;
  const TemporaryDirectory other;
  const std::string target = other.write("target", "1");
  std::filesystem::create_symlink(target, directory.path() / "link");
  Earlier earlier;
  earlier.add("link", state_at(target));
  const WalkOptions options = {.follow_links = true};
  CHECK_EQ(ask(directory, earlier, options).is_kept, "1");
  other.write("target", "22");
  const Answer answer = ask(directory, earlier, options);
  CHECK_EQ(answer.is_kept, "0");
  CHECK_EQ(answer.to_read, "link ");
}

void test_many_files() {
  const TemporaryDirectory directory;
  Earlier earlier;
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    const std::string name = "file" + std::to_string(i);
    const std::int64_t state = state_at(directory.write(name, "1"));
    earlier.add(name, i % 3 == 0 ? state + 1 : state);
    expected += i % 3 == 0 ? '0' : '1';
  }
  CHECK_EQ(ask(directory, earlier).is_kept, expected);
}

}  // namespace
}  // namespace fastdump

int main() {
  using namespace fastdump;
  test_keeps_files_in_the_same_state();
  test_reads_what_is_not_certain();
  test_follows_links_to_the_file();
  test_many_files();
  return tests::exit_code();
}
