// Ranges of files that become files: their bytes, what is kept, what is left; and that nothing but
// whole files is there whatever fails, changes or stops meanwhile.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <ios>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "core/extract/extraction.hpp"
#include "file_states.hpp"
#include "temporary_directory.hpp"
#include "watched_system.hpp"

namespace fastdump {
namespace {

using namespace tests;
using Outcomes = std::vector<ExtractOutcome>;
using std::chrono::milliseconds;

constexpr auto kLeft = ExtractOutcome::left;
constexpr auto kWritten = ExtractOutcome::written;
constexpr auto kKept = ExtractOutcome::kept;

// Less than a piece, which is read together with others of its file, and several pieces.
constexpr std::size_t kSmall = 1000;
constexpr std::size_t kLarge = 700'001;

std::string make_bytes(std::size_t n, std::size_t first) {
  std::string bytes(n, '\0');
  for (std::size_t i = 0; i < n; ++i) bytes[i] = static_cast<char>((first + i) * 31 % 251);
  return bytes;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A tree of sources, the plan for them, and what is to come of it.
class Dump {
 public:
  Dump() {
    plan_.kinds = {{".a", "head of a"}, {".b", ""}};
    plan_.directories = {"", "x/y", "x/z"};
    add("small", 0, {{10, kSmall}, {10 + kSmall, 3}});
    add("empty", 1, {{5, 0}});
    add("large", 1, {{7, kLarge}, {0, kSmall}});
    add("other", 2, {{0, kSmall}, {kLarge, kSmall}});
    add("none", 2, {});
  }

  const ExtractPlan& plan() const { return plan_; }
  const std::map<std::string, std::string>& expected() const { return expected_; }
  const std::vector<std::string>& names() const { return names_; }  // of the extracts
  std::filesystem::path source(std::size_t i) const { return plan_.sources[i].path; }

 private:
  void add(const std::string& name, std::uint32_t directory, std::vector<Extract> extracts) {
    const std::string bytes = make_bytes(2 * kLarge, name.size());
    const std::string path = root_.write(name, bytes);
    for (std::size_t i = 0; i < extracts.size(); ++i) {
      Extract& extract = extracts[i];
      extract.kind = static_cast<std::uint32_t>(i % 2);
      const ExtractKind& kind = plan_.kinds[extract.kind];
      const std::string& below = plan_.directories[directory];
      names_.push_back((below.empty() ? "" : below + "/") + name + kind.suffix);
      expected_[names_.back()] = kind.head + bytes.substr(extract.offset, extract.nbytes);
      plan_.extracts.push_back(extract);
    }
    plan_.sources.push_back({path, state_of_file(path), directory, plan_.extracts.size()});
  }

  const TemporaryDirectory root_;
  ExtractPlan plan_;
  std::vector<std::string> names_;
  std::map<std::string, std::string> expected_;
};

// Where the new files go.
class Output {
 public:
  Output() : descriptor_(::open(root_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}
  ~Output() { ::close(descriptor_); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  std::filesystem::path path(const std::string& name) const { return root_.path() / name; }
  ExtractOptions options(int threads, bool overwrite = false) const {
    return {descriptor_, overwrite, {threads, threads}};
  }
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root_.path())) {
      if (!entry.is_regular_file() || entry.is_symlink()) continue;
      found[entry.path().lexically_relative(root_.path())] = read_file(entry.path());
    }
    return found;
  }

 private:
  const TemporaryDirectory root_;
  const int descriptor_;
};

void finish(Extraction& extraction) {
  extraction.start();
  while (!extraction.wait_for(milliseconds(100))) {
  }
}

Outcomes extract(const ExtractPlan& plan, const ExtractOptions& options) {
  Extraction extraction(plan, options);
  finish(extraction);
  CHECK_EQ(extraction.progress().files_done, plan.sources.size());
  return extraction.outcomes();
}

Outcomes all(const Dump& dump, ExtractOutcome outcome) {
  return Outcomes(dump.plan().extracts.size(), outcome);
}

void test_what_is_written(int threads) {
  const Dump dump;
  const Output output;
  Extraction extraction(dump.plan(), output.options(threads));
  finish(extraction);
  CHECK(extraction.outcomes() == all(dump, kWritten));
  CHECK(output.files() == dump.expected());
  std::uint64_t nbytes = 0;
  for (const auto& [name, bytes] : dump.expected()) nbytes += bytes.size();
  CHECK_EQ(extraction.progress().bytes_done, nbytes);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  struct stat found;
  CHECK_EQ(::stat(output.path("small.a").c_str(), &found), 0);
  CHECK_EQ(found.st_mode & 0777U, 0666U & ~mask);
}

void test_what_is_kept() {
  const Dump dump;
  const Output output;
  extract(dump.plan(), output.options(2));
  CHECK(extract(dump.plan(), output.options(2)) == all(dump, kKept));
  CHECK(extract(dump.plan(), output.options(2, true)) == all(dump, kLeft));
  CHECK(output.files() == dump.expected());
}

// None of these is what would be written; nobody but the caller knows what to do with them.
void test_what_is_left() {
  const Dump dump;
  const Output output;
  extract(dump.plan(), output.options(1));
  const auto index = [&](const std::string& name) {
    const auto& names = dump.names();
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  Outcomes expected = all(dump, kKept);
  const auto spoil = [&](const std::string& name, const auto& how) {
    how(output.path(name));
    expected[index(name)] = kLeft;
  };
  spoil("small.a", [](const auto& path) {
    std::fstream(path, std::ios::in | std::ios::out | std::ios::binary) << "HEAD";
  });
  spoil("small.b", [](const auto& path) { std::filesystem::resize_file(path, 2); });
  spoil("x/y/large.a", [](const auto& path) {
    const timespec old[] = {{1, 0}, {1, 0}};
    CHECK_EQ(::utimensat(AT_FDCWD, path.c_str(), old, 0), 0);
  });
  spoil("x/y/large.b", [&](const auto& path) {
    std::filesystem::rename(path, output.path("moved"));
    std::filesystem::create_symlink(output.path("moved"), path);
  });
  spoil("x/z/other.a", [](const auto& path) {
    std::filesystem::remove(path);
    std::filesystem::create_directory(path);
  });
  spoil("x/z/other.b", [](const auto& path) {
    std::filesystem::remove(path);
    CHECK_EQ(::mkfifo(path.c_str(), 0666), 0);
  });
  const auto before = output.files();
  CHECK(extract(dump.plan(), output.options(2)) == expected);
  CHECK(output.files() == before);
}

void test_links_to_directories_are_not_followed() {
  const Dump dump;
  const Output output;
  const TemporaryDirectory elsewhere;
  std::filesystem::create_directory_symlink(elsewhere.path(), output.path("x"));
  const Outcomes outcomes = extract(dump.plan(), output.options(1));
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    CHECK(outcomes[i] == (dump.names()[i].starts_with("x/") ? kLeft : kWritten));
  }
  CHECK(std::filesystem::is_empty(elsewhere.path()));
}

void test_sources_that_are_others() {
  const Dump dump;
  const Output output;
  std::filesystem::remove(dump.source(0));
  std::filesystem::resize_file(dump.source(1), 4);
  std::filesystem::remove(dump.source(3));
  CHECK_EQ(::mkfifo(dump.source(3).c_str(), 0666), 0);
  const Outcomes outcomes = extract(dump.plan(), output.options(2));
  CHECK((outcomes == Outcomes{kLeft, kLeft, kLeft, kWritten, kWritten, kLeft, kLeft}));
}

// A source that changes after a call: what was read is of no one state. The small one is read at
// once, the large one in pieces.
void test_a_source_that_changes_meanwhile(std::size_t source, std::size_t first, Call at) {
  const Dump dump;
  const Output output;
  ExtractPlan plan = dump.plan();
  plan.sources = {plan.sources[source]};
  plan.extracts = {plan.extracts[first], plan.extracts[first + 1]};
  plan.sources[0].end = 2;
  std::atomic<bool> has_changed = false;
  const WatchedSystem watched([&](Call call, std::size_t) {
    if (call == at && !has_changed.exchange(true)) {
      std::filesystem::resize_file(dump.source(source), 2 * kLarge - 1);
    }
    return WatchedSystem::Verdict{};
  });
  CHECK((extract(plan, output.options(1)) == Outcomes{kLeft, kLeft}));
  CHECK(output.files().empty());
}

// Every call fails once, in every way: what is said to be written is, and nothing else is there.
void test_faults() {
  const Dump dump;
  std::size_t n_calls = 0;
  {
    const Output output;
    const WatchedSystem watched([&](Call, std::size_t n) {
      n_calls = n + 1;
      return WatchedSystem::Verdict{};
    });
    extract(dump.plan(), output.options(1));
  }
  CHECK(n_calls > 50);
  const WatchedSystem::Verdict verdicts[] = {{EINTR}, {EIO}, {ENOSPC}, {EMFILE}, {0, 7}};
  for (const WatchedSystem::Verdict& verdict : verdicts) {
    for (std::size_t failing = 0; failing < n_calls; ++failing) {
      const Output output;
      bool is_removal = false;
      Outcomes outcomes;
      {
        const WatchedSystem watched([&](Call call, std::size_t n) {
          if (n != failing) return WatchedSystem::Verdict{};
          is_removal = call == Call::remove;
          return verdict;
        });
        outcomes = extract(dump.plan(), output.options(1));
      }
      std::map<std::string, std::string> expected;
      for (std::size_t i = 0; i < outcomes.size(); ++i) {
        const std::string& name = dump.names()[i];
        if (outcomes[i] != kLeft) expected[name] = dump.expected().at(name);
      }
      if (!is_removal) CHECK(output.files() == expected);
      const bool is_harmless = verdict.error == EINTR || verdict.error == 0;
      const auto n_left = std::count(outcomes.begin(), outcomes.end(), kLeft);
      CHECK(n_left <= (is_harmless ? 1 : 2));  // a source has no more
    }
  }
}

// Stopped while a file is half written: it goes, what was whole before stays, nothing follows.
void test_a_stop() {
  const Dump dump;
  const Output output;
  std::atomic<int> n_writes = 0;
  std::atomic<bool> is_writing = false;
  std::atomic<bool> may_go_on = false;
  const WatchedSystem watched([&](Call call, std::size_t) {
    if (call == Call::write && ++n_writes == 5) {  // the second piece of the large file
      is_writing = true;
      is_writing.notify_all();
      may_go_on.wait(false);
    }
    return WatchedSystem::Verdict{};
  });
  Extraction extraction(dump.plan(), output.options(1));
  extraction.start();
  is_writing.wait(false);
  std::thread stopper([&] { extraction.stop(); });
  // The thread that stops waits for the one that writes; its wish is known long before.
  std::this_thread::yield();
  may_go_on = true;
  may_go_on.notify_all();
  stopper.join();
  const auto files = output.files();
  for (const auto& [name, bytes] : files) CHECK(bytes == dump.expected().at(name));
  const Outcomes& outcomes = extraction.outcomes();
  CHECK_EQ(static_cast<std::size_t>(std::count(outcomes.begin(), outcomes.end(), kWritten)),
           files.size());
  CHECK(files.contains("small.a"));
}

void test_what_would_not_fit() {
  const Output output;
  const TemporaryDirectory root;
  const std::string path = root.write(std::string(250, 'n'), "bytes");
  const ExtractPlan plan = {
      {{path, state_of_file(path), 0, 1}}, {{0, 5, 0}}, {{".output", ""}}, {""}};
  CHECK(extract(plan, output.options(1)) == Outcomes{kLeft});
  CHECK(output.files().empty());
}

}  // namespace
}  // namespace fastdump

int main() {
  using namespace fastdump;
  for (const int threads : {1, 2, 5}) test_what_is_written(threads);
  test_what_is_kept();
  test_what_is_left();
  test_links_to_directories_are_not_followed();
  test_sources_that_are_others();
  test_a_source_that_changes_meanwhile(0, 0, tests::Call::read);
  test_a_source_that_changes_meanwhile(2, 3, tests::Call::read);
  test_a_source_that_changes_meanwhile(2, 3, tests::Call::write);
  test_faults();
  test_a_stop();
  test_what_would_not_fit();
  return tests::exit_code();
}
