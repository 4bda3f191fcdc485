// Storage that fails: every call to the system is interrupted, fails, gives less than it was asked
// for, takes its time, or finds that a file has become shorter. Scans, comparisons, arrays and
// gathers end with the numbers of the whole file, or say what they lack: never with other numbers.
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ios>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "check.hpp"
#include "core/arrays/gather_array.hpp"
#include "core/arrays/reduce_file.hpp"
#include "core/compare/comparison.hpp"
#include "core/dtype.hpp"
#include "core/errors.hpp"
#include "core/io/mapping.hpp"
#include "core/layout/host_layout.hpp"
#include "core/scan/scan.hpp"
#include "core/scan/scan_table.hpp"
#include "standard_file.hpp"
#include "table_values.hpp"
#include "temporary_directory.hpp"
#include "watched_system.hpp"

namespace fastdump {
namespace {

using namespace tests;
using Verdict = WatchedSystem::Verdict;
using Watch = WatchedSystem::Watch;

// What streams differ by: whole in the first read, whole in the second, one chunk, several chunks,
// and several that are gathered. A chunk has 1 MiB here.
constexpr std::size_t kTinyFloats = 250;
constexpr std::size_t kSmallFloats = 50'000;
constexpr std::size_t kMediumFloats = 130'000;
constexpr std::size_t kLargeFloats = 560'000;

constexpr std::int64_t kFractalNz = 29;
constexpr std::size_t kRows = 352;
constexpr std::size_t kColumns = 801;
constexpr std::size_t kStoredColumns = 816;

// None is 0: zeros of a page that was lost would show.
void append_floats(std::string& bytes, std::size_t n) {
  const std::size_t begin = bytes.size();
  bytes.resize(begin + n * 4);
  for (std::size_t i = 0; i < n; ++i) {
    const auto value = static_cast<float>(i % 100 + 1);
    std::memcpy(bytes.data() + begin + i * 4, &value, 4);
  }
}

std::string make_dump(const Message& tensor, std::size_t n_floats) {
  std::string bytes = with_length(Message().text(6, "op").message(3, tensor));
  append_floats(bytes, n_floats);
  return bytes;
}

std::string make_vector(std::size_t n) {
  return make_dump(output({.shape = {n}, .size = n * 4}), n);
}

std::string make_matrix() {
  constexpr std::size_t kStored = kRows * kStoredColumns;
  const Message tensor = output({.shape = {kStoredColumns / 16, kRows / 16, 16, 16},
                                 .size = kStored * 4,
                                 .format = static_cast<std::uint64_t>(kFractalNz)})
                             .shape(7, {kRows, kColumns});
  return make_dump(tensor, kStored);
}

HostLayout matrix_layout() {
  const auto rows = static_cast<std::int64_t>(kRows);
  const auto stored_columns = static_cast<std::int64_t>(kStoredColumns);
  const std::vector<std::int64_t> stored = {stored_columns / 16, rows / 16, 16, 16};
  const std::vector<std::int64_t> host = {rows, static_cast<std::int64_t>(kColumns)};
  return HostLayout(StoredTensor{kFractalNz, stored, host});
}

std::string name_of(int i) { return "Add.op.1.2." + std::to_string(1'700'000'000'000'000 + i); }

using Contents = std::vector<std::string>;

Contents make_contents() {
  return {make_vector(kTinyFloats), make_vector(kSmallFloats), make_vector(kMediumFloats),
          make_vector(kLargeFloats), make_matrix()};
}

class Dump {
 public:
  explicit Dump(Contents contents) : contents_(std::move(contents)) {
    for (std::size_t i = 0; i < n_files(); ++i) {
      directory_.write(name_of(static_cast<int>(i)), contents_[i]);
    }
  }
  std::string path() const { return directory_.path(); }
  std::size_t n_files() const { return contents_.size(); }
  std::string file(std::size_t i) const { return directory_.path() / name_of(static_cast<int>(i)); }
  std::size_t nbytes(std::size_t i) const { return contents_[i].size(); }
  void shrink(std::size_t i, std::size_t nbytes) const {
    const Write write(*this, i);
    std::filesystem::resize_file(file(i), nbytes);
  }
  // What a read that meets a cut may find behind the end to come: a page that was cleared.
  void clear_from(std::size_t i, std::size_t begin) const {
    const Write write(*this, i);
    std::fstream stream(file(i), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(static_cast<std::streamoff>(begin));
    const std::string zeros(nbytes(i) - begin, '\0');
    stream.write(zeros.data(), static_cast<std::streamsize>(zeros.size()));
  }
  void restore(std::size_t i) const {
    const Write write(*this, i);
    directory_.write(name_of(static_cast<int>(i)), contents_[i]);
  }
  // The same tensor with other elements, of which none is 0 either.
  void overwrite(std::size_t i) const {
    const Write write(*this, i);
    std::fstream stream(file(i), std::ios::in | std::ios::out | std::ios::binary);
    const std::string other = other_content(i);
    stream.write(other.data(), static_cast<std::streamsize>(other.size()));
  }
  void replace(std::size_t i) const {
    const Write write(*this, i);
    std::filesystem::rename(directory_.write("other", other_content(i)), file(i));
  }
  // A nanosecond a write. Those from now on look as if they were done a second ago: too late for a
  // scan to take what it has read for unchanged without asking.
  WatchedSystem::Writes writes() const {
    const std::lock_guard lock(mutex_);
    const std::int64_t n_before = n_all_writes_;
    return [=, this](const FileStatus& status) {
      const std::lock_guard inner_lock(mutex_);
      const std::int64_t n = last_write_[status.inode];
      return n > n_before ? WatchedSystem::kNowNs - 1'000'000'000 + n : n;
    };
  }
  FileState state(std::size_t i) const {
    const WatchedSystem watched([](Call, std::size_t) { return Verdict{}; }, writes());
    FileStatus status;
    File(file(i).c_str()).status(status);
    return state_of(status);
  }

 private:
  std::string other_content(std::size_t i) const {
    std::string other = contents_[i];
    const std::size_t n_floats = (other.size() - 100) / 4;
    for (std::size_t k = 1; k <= n_floats; ++k) {
      const auto value = static_cast<float>(1000 + k % 7);
      std::memcpy(other.data() + other.size() - k * 4, &value, 4);
    }
    return other;
  }

  // Nobody is told the status of a file until a write is done, which changes the file that had the
  // name before, and the one that has it then.
  class Write {
   public:
    Write(const Dump& dump, std::size_t i) : lock_(dump.mutex_), dump_(dump), i_(i) { count(); }
    ~Write() { count(); }

   private:
    void count() const {
      System system;
      FileStatus status;
      system.status_of_path(dump_.file(i_).c_str(), Links::follow, status);
      dump_.last_write_[status.inode] = ++dump_.n_all_writes_;
    }

    const std::lock_guard<std::mutex> lock_;
    const Dump& dump_;
    const std::size_t i_;
  };

  const TemporaryDirectory directory_;
  const Contents contents_;
  mutable std::mutex mutex_;
  mutable std::int64_t n_all_writes_ = 0;
  mutable std::map<std::uint64_t, std::int64_t> last_write_;  // number of it, by inode
};

// What is said of one tensor.
struct Row {
  std::string status;
  std::string numbers;  // the same if, and only if, the same elements were reduced
  std::string note;
  std::int64_t zero = 0;
};

using Rows = std::map<std::string, Row, std::less<>>;  // by path

std::string number_text(const Table& table, std::string_view name, std::size_t row) {
  if (is_null(table, name, row)) return " null";
  return " " + std::to_string(value<std::uint64_t>(table, name, row));  // the bits, if a float64
}

Rows rows_of(Scan& scan) {
  const Table table = make_table(scan);
  Rows rows;
  for (std::size_t i = 0; i < static_cast<std::size_t>(table.n_rows); ++i) {
    Row row;
    row.status = text(table, "status", i);
    if (!is_null(table, "note", i)) row.note = text(table, "note", i);
    for (const char* name : {"count", "max", "min", "mean", "l2norm", "nan", "zero"}) {
      row.numbers += number_text(table, name, i);
    }
    if (!is_null(table, "zero", i)) row.zero = value<std::int64_t>(table, "zero", i);
    rows.emplace(text(table, "path", i), std::move(row));
  }
  return rows;
}

struct Setup {
  Engine engine;
  int threads;
  int error = EIO;  // what calls fail with
};

constexpr Setup kOneThread = {Engine::read, 1};
constexpr std::array kSetups = {Setup{Engine::read, 1, EIO}, Setup{Engine::mmap, 1, ESTALE},
                                Setup{Engine::automatic, 3, EIO}};

struct Seen {
  Rows rows;
  std::size_t n_calls;
};

Seen scan(const Dump& dump, const Setup& setup, const Watch& watch) {
  ScanOptions options;
  options.level = kernels::Level::full;
  options.logical = true;
  options.engine = setup.engine;
  options.parallelism = {setup.threads, setup.threads};
  const WatchedSystem watched(watch, dump.writes());
  Scan scan({dump.path()}, options);
  scan.start();
  while (!scan.wait_for(std::chrono::milliseconds(100))) {
  }
  return {rows_of(scan), watched.n_calls()};
}

Verdict nothing(Call, std::size_t) { return {}; }

void check_says(std::string_view note, std::string_view why) {
  CHECK(!note.empty());
  if (note.find(why) == std::string_view::npos) CHECK_EQ(note, why);
}

void check_same(const Rows& found, const Rows& expected) {
  CHECK_EQ(found.size(), expected.size());
  for (const auto& [path, row] : expected) {
    const auto same = found.find(path);
    if (same == found.end()) {
      CHECK_EQ(path, "a row");
      continue;
    }
    CHECK_EQ(same->second.status, row.status);
    CHECK_EQ(same->second.numbers, row.numbers);
    CHECK_EQ(same->second.note, row.note);
  }
}

// Each file has its row. A row is as it should be, or says what went wrong.
void check_honest(const Rows& found, const Rows& expected, std::string_view why) {
  CHECK_EQ(found.size(), expected.size());
  for (const auto& [path, row] : found) {
    CHECK_EQ(row.zero, 0);
    if (row.status == "ok") {
      // A file that cannot be mapped is reduced with its padding, and the note says so.
      const bool is_padded = row.note.find("padding included") != std::string::npos;
      if (!is_padded) CHECK_EQ(row.numbers, expected.at(path).numbers);
    } else {
      CHECK(row.status == "unreadable" || row.status == "truncated" || row.status == "malformed" ||
            row.status == "changed");
      if (row.status == "changed") check_says(row.note, "the file changed while it was read");
      if (row.status == "unreadable") check_says(row.note, why);
    }
  }
}

bool is_of_files(Call call) {
  return call != Call::open_directory && call != Call::next_entry && call != Call::resolve &&
         call != Call::status_of_path;
}

void test_scans_that_are_interrupted(const Dump& dump, const Rows& expected, const Setup& setup) {
  const std::size_t n_calls = scan(dump, setup, nothing).n_calls;
  CHECK(n_calls > 20);
  for (std::size_t k = 0; k < n_calls; ++k) {
    const auto interrupt = [=](Call, std::size_t n) { return Verdict{n == k ? EINTR : 0}; };
    check_same(scan(dump, setup, interrupt).rows, expected);
  }
  const auto always = [](Call, std::size_t n) { return Verdict{n % 2 == 0 ? EINTR : 0}; };
  check_same(scan(dump, setup, always).rows, expected);
}

void test_scans_with_short_reads(const Dump& dump, const Rows& expected, const Setup& setup) {
  for (const std::size_t nbytes : {1000UL, 4096UL, 65535UL, 65537UL, 262145UL}) {
    const auto cut = [=](Call, std::size_t) { return Verdict{.max_nbytes = nbytes}; };
    check_same(scan(dump, setup, cut).rows, expected);
  }
}

// Threads overtake each other in ever different ways.
void test_scans_with_slow_reads(const Dump& dump, const Rows& expected, const Setup& setup) {
  for (const std::size_t period : {2UL, 3UL, 5UL}) {
    const auto dawdle = [=](Call, std::size_t n) {
      for (int i = 0; i < 500 && n % period == 0; ++i) std::this_thread::yield();
      return Verdict{};
    };
    check_same(scan(dump, setup, dawdle).rows, expected);
  }
}

void test_scans_that_fail(const Dump& dump, const Rows& expected, const Setup& setup) {
  const int error = setup.error;
  const std::size_t n_calls = scan(dump, setup, nothing).n_calls;
  std::size_t n_unreadable = 0;
  for (std::size_t k = 0; k < n_calls; ++k) {
    const auto fail = [=](Call call, std::size_t n) {
      return Verdict{n == k && is_of_files(call) ? error : 0};
    };
    const Rows rows = scan(dump, setup, fail).rows;
    check_honest(rows, expected, std::strerror(error));
    const auto is_unreadable = [](const auto& row) { return row.second.status == "unreadable"; };
    n_unreadable += static_cast<std::size_t>(std::ranges::count_if(rows, is_unreadable));
    CHECK(std::ranges::count_if(rows, is_unreadable) <= 1);
  }
  CHECK(n_unreadable >= dump.n_files());
}

// The first file of the dump shrinks, at every call. One read takes it whole, or several do.
void test_scans_of_a_file_that_shrinks(const Dump& dump, const Rows& expected, const Setup& setup,
                                       bool in_one_read) {
  constexpr std::size_t file = 0;
  const std::size_t n_calls = scan(dump, setup, nothing).n_calls;
  std::size_t n_truncated = 0;
  std::size_t n_changed = 0;
  for (const std::size_t nbytes : {dump.nbytes(file) / 2 + 1, std::size_t{9}, std::size_t{0}}) {
    for (std::size_t k = 0; k < n_calls; ++k) {
      const auto shrink = [&](Call, std::size_t n) {
        if (n == k) dump.shrink(file, nbytes);
        return Verdict{};
      };
      const Rows rows = scan(dump, setup, shrink).rows;
      check_honest(rows, expected, "");
      for (const auto& [path, row] : rows) {
        if (row.status == "ok") continue;
        CHECK(path.ends_with(name_of(static_cast<int>(file))));
        n_truncated += row.status == "truncated" ? 1 : 0;
        n_changed += row.status == "changed" ? 1 : 0;
      }
      dump.restore(file);
    }
  }
  CHECK(n_truncated != 0);
  // A file that one read takes whole is read as it was before, or as it is then.
  CHECK_EQ(n_changed != 0, !in_one_read);
}

// Another dump of the same size takes the place of the first file, or is written over it.
void test_scans_of_a_file_that_is_replaced(const Dump& dump, const Rows& expected,
                                           const Setup& setup, bool in_one_read, bool by_name) {
  constexpr std::size_t file = 0;
  const std::size_t n_calls = scan(dump, setup, nothing).n_calls;
  const auto replace = [&] { by_name ? dump.replace(file) : dump.overwrite(file); };
  replace();
  const Rows other = scan(dump, setup, nothing).rows;
  dump.restore(file);
  std::size_t n_changed = 0;
  std::size_t n_other = 0;
  for (std::size_t k = 0; k < n_calls; ++k) {
    const Rows rows = scan(dump, setup, [&](Call, std::size_t n) {
                        if (n == k) replace();
                        return Verdict{};
                      }).rows;
    for (const auto& [path, row] : rows) {
      if (row.status == "changed") {
        ++n_changed;
      } else {
        const bool is_other = row.numbers == other.at(path).numbers;
        if (!is_other) CHECK_EQ(row.numbers, expected.at(path).numbers);
        n_other += is_other ? 1 : 0;
      }
    }
    dump.restore(file);
  }
  CHECK(n_other != 0);
  CHECK_EQ(n_changed != 0, !in_one_read);
}

TensorPlace place_of(const Dump& dump, std::size_t file, std::size_t n) {
  TensorPlace place;
  place.path = dump.file(file);
  place.state = dump.state(file);
  place.offset = dump.nbytes(file) - n * 4;
  place.dtype = find_data_type("float32");
  place.n_elements = n;
  return place;
}

// The zeros that a read finds where a file is being cut are no elements.
void test_scans_that_read_cleared_pages(const Dump& dump, const Rows& expected) {
  constexpr std::size_t file = 0;
  const std::size_t n_calls = scan(dump, kOneThread, nothing).n_calls;
  const std::size_t nbytes = dump.nbytes(file) / 2 + 1;
  for (std::size_t k = 0; k < n_calls; ++k) {
    const auto cut = [&](Call call, std::size_t n) {
      if (n == k && call == Call::read) dump.clear_from(file, nbytes);
      if (n == k + 1) dump.shrink(file, nbytes);
      return Verdict{};
    };
    check_honest(scan(dump, kOneThread, cut).rows, expected, "");
    dump.restore(file);
  }
}

// Of one piece, of several chunks, and of elements that are gathered on one side; or those of them
// that read one file.
std::vector<TensorPair> make_pairs(const Dump& dump, std::optional<std::size_t> file) {
  TensorPlace matrix = place_of(dump, 4, kRows * kStoredColumns);
  matrix.layout = std::make_shared<const HostLayout>(matrix_layout());
  const TensorPlace large = place_of(dump, 3, kRows * kColumns);
  std::vector<TensorPair> pairs = {
      {place_of(dump, 0, kTinyFloats), place_of(dump, 1, kTinyFloats)},
      {place_of(dump, 2, kMediumFloats), place_of(dump, 3, kMediumFloats)},
      {large, place_of(dump, 4, kRows * kColumns)},
      {matrix, large}};
  if (file) {
    const std::string path = dump.file(*file);
    std::erase_if(
        pairs, [&](const TensorPair& pair) { return pair.a.path != path && pair.b.path != path; });
  }
  return pairs;
}

struct Compared {
  std::vector<PairResult> results;
  std::size_t n_calls;
};

Compared compare(const Dump& dump, const Setup& setup, const Watch& watch,
                 std::optional<std::size_t> file = {}) {
  ComparisonOptions options;
  options.tolerance = {0, 0.5};
  options.divergence = true;
  options.parallelism = {setup.threads, setup.threads};
  options.engine = setup.engine;
  const WatchedSystem watched(watch, dump.writes());
  Comparison comparison(make_pairs(dump, file), options);
  comparison.start();
  while (!comparison.wait_for(std::chrono::milliseconds(100))) {
  }
  return {comparison.results(), watched.n_calls()};
}

std::string numbers_of(const PairResult& result) {
  if (!result.statistics) return "none";
  const kernels::PairStatistics& s = *result.statistics;
  std::string numbers = std::to_string(s.count) + " " + std::to_string(s.mismatched);
  for (const double x : {s.cosine_similarity, s.max_abs_error, s.rmse, s.mean_rel_error, s.a.mean,
                         s.a.min, s.b.mean, s.b.min, result.divergence.value_or(-1)}) {
    numbers += " " + std::to_string(std::bit_cast<std::uint64_t>(x));
  }
  return numbers;
}

void check_same(const Compared& found, const Compared& expected) {
  for (std::size_t i = 0; i < expected.results.size(); ++i) {
    CHECK(found.results[i].is_done);
    CHECK(found.results[i].status == Status::ok);
    CHECK_EQ(numbers_of(found.results[i]), numbers_of(expected.results[i]));
    CHECK_EQ(found.results[i].note.text(), "");
  }
}

void check_honest(const Compared& found, const Compared& expected, std::string_view why) {
  for (std::size_t i = 0; i < expected.results.size(); ++i) {
    const PairResult& result = found.results[i];
    CHECK(result.is_done);
    if (result.statistics && result.statistics->count != 0) {
      // No element is 0.
      CHECK(result.statistics->a.min >= 1 && result.statistics->b.min >= 1);
    }
    if (result.status == Status::ok) {
      CHECK_EQ(numbers_of(result), numbers_of(expected.results[i]));
    } else {
      CHECK(result.status == Status::unreadable || result.status == Status::changed);
      const bool is_changed = result.status == Status::changed;
      check_says(result.note.text(), is_changed ? "changed after its header was read" : why);
    }
  }
}

void test_comparisons(const Dump& dump, const Compared& expected, const Setup& setup) {
  const std::size_t n_calls = compare(dump, setup, nothing).n_calls;
  CHECK(n_calls > 20);
  for (std::size_t k = 0; k < n_calls; ++k) {
    const auto with = [=](int error) {
      return [=](Call, std::size_t n) { return Verdict{n == k ? error : 0}; };
    };
    check_same(compare(dump, setup, with(EINTR)), expected);
    check_honest(compare(dump, setup, with(setup.error)), expected, std::strerror(setup.error));
  }
  for (const std::size_t nbytes : {1000UL, 65537UL}) {
    const auto cut = [=](Call, std::size_t) { return Verdict{.max_nbytes = nbytes}; };
    check_same(compare(dump, setup, cut), expected);
  }
  const auto dawdle = [](Call, std::size_t n) {
    for (int i = 0; i < 500 && n % 3 == 0; ++i) std::this_thread::yield();
    return Verdict{};
  };
  check_same(compare(dump, setup, dawdle), expected);
}

void test_comparisons_of_files_that_shrink(const Dump& dump, const Setup& setup, std::size_t file) {
  const Compared expected = compare(dump, kOneThread, nothing, file);
  const std::size_t n_calls = compare(dump, setup, nothing, file).n_calls;
  std::size_t n_changed = 0;
  for (const std::size_t nbytes : {dump.nbytes(file) / 2 + 1, std::size_t{0}}) {
    for (std::size_t k = 0; k < n_calls; ++k) {
      const auto shrink = [&](Call, std::size_t n) {
        if (n == k) dump.shrink(file, nbytes);
        return Verdict{};
      };
      const Compared found = compare(dump, setup, shrink, file);
      check_honest(found, expected, "");
      for (const PairResult& result : found.results) {
        n_changed += result.status == Status::changed ? 1 : 0;
      }
      dump.restore(file);
    }
  }
  CHECK(n_changed != 0);
}

// What is compared is what the headers described, or nothing.
void test_comparisons_of_files_that_are_replaced(const Dump& dump, const Setup& setup,
                                                 std::size_t file, bool by_name) {
  const Compared expected = compare(dump, kOneThread, nothing, file);
  const std::size_t n_calls = compare(dump, setup, nothing, file).n_calls;
  std::size_t n_changed = 0;
  for (std::size_t k = 0; k < n_calls; ++k) {
    const auto replace = [&](Call, std::size_t n) {
      if (n == k) by_name ? dump.replace(file) : dump.overwrite(file);
      return Verdict{};
    };
    const Compared found = compare(dump, setup, replace, file);
    check_honest(found, expected, "");
    for (const PairResult& result : found.results) {
      n_changed += result.status == Status::changed ? 1 : 0;
    }
    dump.restore(file);
  }
  CHECK(n_changed != 0);
}

void test_comparisons_that_read_cleared_pages(const Dump& dump, std::size_t file) {
  const Compared expected = compare(dump, kOneThread, nothing, file);
  const std::size_t nbytes = dump.nbytes(file) / 2 + 1;
  for (std::size_t k = 0; k < expected.n_calls; ++k) {
    const auto cut = [&](Call call, std::size_t n) {
      if (n == k && call == Call::read) dump.clear_from(file, nbytes);
      if (n == k + 1) dump.shrink(file, nbytes);
      return Verdict{};
    };
    check_honest(compare(dump, kOneThread, cut, file), expected, "");
    dump.restore(file);
  }
}

// The mean, or what was thrown.
struct Reduced {
  std::optional<double> mean;
  int error = 0;
  bool is_refused = false;
  std::size_t n_calls = 0;
};

Reduced reduce(const Dump& dump, const Setup& setup, const Watch& watch) {
  const WatchedSystem watched(watch, dump.writes());
  Reduced reduced;
  try {
    const TensorPlace place = place_of(dump, 3, kLargeFloats);
    const auto found =
        reduce_file(place.path, place.state, place.dtype->element, place.offset, kLargeFloats,
                    kernels::Level::full, setup.engine, setup.threads, [] { return true; });
    reduced.mean = found->mean;
    CHECK_EQ(found->count, kLargeFloats);
    CHECK_EQ(found->zero, 0U);
  } catch (const SystemError& error) {
    reduced.error = error.error_number();
  } catch (const FormatError&) {
    reduced.is_refused = true;
  }
  reduced.n_calls = watched.n_calls();
  return reduced;
}

void test_arrays_in_files(const Dump& dump, const Setup& setup) {
  const Reduced whole = reduce(dump, setup, nothing);
  CHECK(whole.mean == 50.5);
  std::size_t n_failed = 0;
  std::size_t n_refused = 0;
  for (std::size_t k = 0; k < whole.n_calls; ++k) {
    const auto with = [=](int error) {
      return [=](Call, std::size_t n) { return Verdict{n == k ? error : 0}; };
    };
    CHECK(reduce(dump, setup, with(EINTR)).mean == whole.mean);
    for (const int error : {EIO, ESTALE}) {
      const Reduced failed = reduce(dump, setup, with(error));
      CHECK(failed.mean ? failed.mean == whole.mean : failed.error == error);
      n_failed += failed.error != 0 ? 1 : 0;
    }
    const Reduced shrunk = reduce(dump, setup, [&](Call, std::size_t n) {
      if (n == k) dump.shrink(3, kLargeFloats);
      return Verdict{};
    });
    CHECK(shrunk.mean ? shrunk.mean == whole.mean : shrunk.is_refused);
    n_refused += shrunk.is_refused ? 1 : 0;
    dump.restore(3);
  }
  CHECK(n_failed >= 2 && n_refused >= 2);
  const auto cut = [](Call, std::size_t) { return Verdict{.max_nbytes = 10'001}; };
  CHECK(reduce(dump, setup, cut).mean == whole.mean);
}

// A conversion maps the file and gathers from the mapping.
std::optional<std::string> convert(const Dump& dump, const Watch& watch, int& error_number,
                                   std::size_t& n_calls) {
  const WatchedSystem watched(watch, dump.writes());
  std::optional<std::string> host;
  try {
    const auto mapping = map_file(dump.file(4), dump.state(4), Access::read_only);
    host.emplace(kRows * kColumns * 4, '\0');
    const std::byte* stored = mapping->data() + mapping->nbytes() - kRows * kStoredColumns * 4;
    gather_array(matrix_layout(), stored, 4, 0, kRows * kColumns,
                 reinterpret_cast<std::byte*>(host->data()), 3);
  } catch (const SystemError& error) {
    error_number = error.error_number();
  }
  n_calls = watched.n_calls();
  return host;
}

void test_conversions(const Dump& dump) {
  int error_number = 0;
  std::size_t n_calls = 0;
  const auto expected = convert(dump, nothing, error_number, n_calls);
  CHECK(expected.has_value());
  CHECK(n_calls >= 4);
  for (std::size_t k = 0; k < n_calls; ++k) {
    for (const int error : {EINTR, EIO, ESTALE}) {
      std::size_t ignored = 0;
      error_number = 0;
      const auto fail = [=](Call call, std::size_t n) {
        return Verdict{n == k && call != Call::unmap ? error : 0};
      };
      const auto host = convert(dump, fail, error_number, ignored);
      CHECK(host ? host == expected : error_number == error && error != EINTR);
      if (error == EINTR) CHECK(host.has_value());
    }
  }
}

}  // namespace
}  // namespace fastdump

int main() {
  using namespace fastdump;
  ::setenv("FASTDUMP_CHUNK_MIB", "1", 1);
  ::setenv("FASTDUMP_MMAP_MIB", "1", 1);
  const Contents contents = make_contents();
  const Dump dump(contents);
  const Rows rows = scan(dump, kOneThread, nothing).rows;
  CHECK_EQ(rows.size(), dump.n_files());
  for (const auto& [path, row] : rows) CHECK_EQ(row.status, "ok");
  const Compared compared = compare(dump, kOneThread, nothing);
  for (const Setup setup : kSetups) {
    check_same(scan(dump, setup, nothing).rows, rows);
    test_scans_that_are_interrupted(dump, rows, setup);
    test_scans_with_short_reads(dump, rows, setup);
    test_scans_with_slow_reads(dump, rows, setup);
    test_scans_that_fail(dump, rows, setup);
    check_same(compare(dump, setup, nothing), compared);
    test_comparisons(dump, compared, setup);
    for (const std::size_t file : {2UL, 3UL, 4UL}) {
      test_comparisons_of_files_that_shrink(dump, setup, file);
      for (const bool by_name : {true, false}) {
        test_comparisons_of_files_that_are_replaced(dump, setup, file, by_name);
      }
    }
    test_arrays_in_files(dump, setup);
  }
  for (const std::size_t file : {0UL, 2UL, 3UL, 4UL}) {
    test_comparisons_that_read_cleared_pages(dump, file);
  }
  // Each file changes beside one that does not: in a scan of all, most calls are of others.
  for (std::size_t i = 0; i < contents.size(); ++i) {
    const Dump two({contents[i], contents[(i + 1) % contents.size()]});
    const Rows both = scan(two, kOneThread, nothing).rows;
    const bool in_one_read = i == 0;
    for (const Setup setup : kSetups) {
      test_scans_of_a_file_that_shrinks(two, both, setup, in_one_read);
      for (const bool by_name : {true, false}) {
        test_scans_of_a_file_that_is_replaced(two, both, setup, in_one_read, by_name);
      }
    }
    test_scans_that_read_cleared_pages(two, both);
  }
  test_conversions(dump);
  return tests::exit_code();
}
