#include "core/tree/unchanged.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/concurrency/cpus.hpp"
#include "core/concurrency/pipeline.hpp"
#include "core/decimal.hpp"
#include "core/io/descriptors.hpp"
#include "core/io/file.hpp"

namespace fastdump {
namespace {

constexpr auto kNoFile = std::numeric_limits<std::uint32_t>::max();
// A file in a directory that was not listed.
constexpr auto kTrustedFile = kNoFile - 1;

// So many files are asked about at once: the turn of a thread costs more than one of them.
constexpr std::size_t kFilesPerItem = 64;

// The directories that were not listed, as rows show them.
class TrustedDirectories {
 public:
  TrustedDirectories(const Index& index, const std::vector<std::string>& shown) {
    for (std::size_t i = 0; i < index.n_directories(); ++i) {
      if (!index.was_trusted(i)) continue;
      directories_.insert(shown.empty() ? join_path(index.shown_directory(i), "") : shown[i]);
    }
  }

  // Quick for files one after the other in one directory.
  bool have(std::string_view path) {
    if (directories_.empty()) return false;
    const bool is_there = has_last_ && path.starts_with(last_) &&
                          path.find('/', last_.size()) == std::string_view::npos;
    if (!is_there) {
      const std::size_t slash = path.rfind('/');
      last_ = path.substr(0, slash == std::string_view::npos ? 0 : slash + 1);
      has_last_ = true;
      last_is_trusted_ = directories_.contains(std::string(last_));
    }
    return last_is_trusted_;
  }

 private:
  std::unordered_set<std::string> directories_;
  std::string_view last_;
  bool has_last_ = false;
  bool last_is_trusted_ = false;
};

// Numbers of paths, in the order in which they were added. A table of its own, because a node for
// each path is a cache miss for each look.
class PathNumbers {
 public:
  // The number of a path, which is the next one if it is new.
  std::uint32_t add(std::string_view path) {
    if (2 * paths_.size() >= slots_.size()) grow();
    const std::uint32_t hash = hash_of(path);
    Slot& slot = slots_[place_of(path, hash)];
    if (slot.number == kNoFile) {
      slot = {hash, static_cast<std::uint32_t>(paths_.size())};
      paths_.push_back(path);
    }
    return slot.number;
  }

  // kNoFile if it was not added.
  std::uint32_t find(std::string_view path) const {
    return slots_.empty() ? kNoFile : slots_[place_of(path, hash_of(path))].number;
  }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t number = kNoFile;  // free
  };

  static std::uint32_t hash_of(std::string_view path) {
    return static_cast<std::uint32_t>(std::hash<std::string_view>{}(path));
  }

  // Where the path is, or would be.
  std::size_t place_of(std::string_view path, std::uint32_t hash) const {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
      const Slot& slot = slots_[i];
      if (slot.number == kNoFile || (slot.hash == hash && paths_[slot.number] == path)) return i;
    }
  }

  void grow() {
    std::vector<Slot> before(std::max<std::size_t>(kFewest, 2 * slots_.size()));
    before.swap(slots_);
    const std::size_t mask = slots_.size() - 1;
    for (const Slot& slot : before) {
      if (slot.number == kNoFile) continue;
      std::size_t i = slot.hash & mask;
      while (slots_[i].number != kNoFile) i = (i + 1) & mask;
      slots_[i] = slot;
    }
  }

  static constexpr std::size_t kFewest = 1024;

  std::vector<Slot> slots_;  // a power of two; half of them are free
  std::vector<std::string_view> paths_;
};

// The files of the earlier rows, each once.
struct EarlierFiles {
  EarlierFiles(const EarlierRows& rows, TrustedDirectories trusted) : file_of(rows.ends.size()) {
    std::optional<std::string_view> last;
    std::uint32_t last_file = kNoFile;
    for (std::size_t row = 0; row < file_of.size(); ++row) {
      const std::string_view path = rows.path(row);
      if (trusted.have(path)) {
        file_of[row] = kTrustedFile;
        continue;
      }
      if (path != last) {
        last_file = numbers.add(path);
        if (last_file == states.size()) states.push_back(rows.states[row]);
        last = path;
      }
      file_of[row] = last_file;
      if (states[file_of[row]] != rows.states[row]) states[file_of[row]] = 0;
    }
  }

  PathNumbers numbers;
  std::vector<std::int64_t> states;    // 0: not known
  std::vector<std::uint32_t> file_of;  // by row
};

// Asks for the states of files by their names in the directory that was opened last: a long path is
// looked up once a directory, not once a file.
struct Asker {
  explicit Asker(const Index& the_index) : index(the_index) {}

  // An errno, or 0.
  int find_status(std::uint32_t position, FileStatus& status) {
    const std::uint32_t number = index.directory_index(position);
    if (opened != number) {
      directory = File::directory(index.directory(position).path.c_str());
      opened = number;
    }
    // One that cannot be opened may hold files that can.
    if (directory.error() != 0) {
      const char* whole = index.path(position, path);
      return -retry_interrupted(
          [&] { return system().status_of_path(whole, Links::follow, status); });
    }
    path.assign(index.name_on_disk(position));
    return -retry_interrupted(
        [&] { return system().status_in(directory.descriptor(), path.c_str(), status); });
  }

  const Index& index;
  ThreadStopwatch stopwatch;
  std::string path;                     // scratch
  std::optional<std::uint32_t> opened;  // which directory that is
  File directory;
};

class AskRun final : public Pipeline<NoJob, Asker> {
 public:
  AskRun(const Index& index, Index::PositionsView positions, const EarlierFiles& files,
         const std::vector<std::string>& shown, const Parallelism& asked,
         const std::atomic<bool>& stop)
      : Pipeline(asked, threads_with_descriptors(Depth::most(asked), 1), stop),
        index_(index),
        positions_(positions),
        files_(files),
        shown_(shown),
        file_at_(positions.size(), kNoFile),
        is_same_(files.states.size()),
        is_other_(files.states.size()) {}

  Unchanged result() const {
    Unchanged unchanged;
    for (std::size_t i = 0; i < positions_.size(); ++i) {
      if (!is_unchanged(file_at_[i])) unchanged.to_read.push_back(positions_[i]);
    }
    unchanged.is_kept.reserve(files_.file_of.size());
    for (const std::uint32_t file : files_.file_of) {
      unchanged.is_kept.push_back(is_unchanged(file) ? 1 : 0);
    }
    return unchanged;
  }

 private:
  std::unique_ptr<Asker> make_context() override { return std::make_unique<Asker>(index_); }
  void find_items(Asker&) override {
    add_items((positions_.size() + kFilesPerItem - 1) / kFilesPerItem);
  }
  void do_item(std::size_t i, Asker& asker) override {
    const std::size_t end = std::min((i + 1) * kFilesPerItem, positions_.size());
    for (std::size_t k = i * kFilesPerItem; k < end; ++k) ask(k, asker);
  }
  Step do_step(NoJob&, Asker&) override { return {}; }
  std::shared_ptr<NoJob> end_job(NoJob&, Asker&) override { return nullptr; }
  void report(Asker&) override {}
  void end_thread(Asker&) override {}

  void ask(std::size_t i, Asker& asker) {
    const std::uint32_t position = positions_[i];
    std::string& path = asker.path;
    find_shown_path(position, path);
    // Rows show other bytes than text as a backslash and digits, which a name may have, too.
    if (path.find('\\') != std::string::npos || is_decimal(index_.name_on_disk(position))) return;
    const std::uint32_t file = files_.numbers.find(path);
    if (file == kNoFile) return;
    file_at_[i] = file;
    (has_state(position, files_.states[file], asker) ? is_same_ : is_other_)[file] = true;
  }

  void find_shown_path(std::uint32_t position, std::string& path) const {
    if (shown_.empty()) {
      index_.shown_path(position, path);
    } else {
      path.assign(shown_[index_.directory_index(position)]).append(index_.name_on_disk(position));
    }
  }

  static bool has_state(std::uint32_t position, std::int64_t state, Asker& asker) {
    FileStatus status;
    return state != 0 && asker.find_status(position, status) == 0 &&
           status.type == FileType::regular && static_cast<std::int64_t>(state_of(status)) == state;
  }

  // A path that was found twice has one answer.
  bool is_unchanged(std::uint32_t file) const {
    if (file == kTrustedFile) return true;
    return file != kNoFile && is_same_[file] && !is_other_[file];
  }

  const Index& index_;
  const Index::PositionsView positions_;
  const EarlierFiles& files_;
  const std::vector<std::string>& shown_;
  std::vector<std::uint32_t> file_at_;  // by index into positions_
  std::vector<std::atomic<bool>> is_same_;
  std::vector<std::atomic<bool>> is_other_;
};

}  // namespace

Unchanged find_unchanged(const Index& index, Index::PositionsView positions,
                         const EarlierRows& earlier, const std::vector<std::string>& shown,
                         const Parallelism& parallelism, const std::atomic<bool>& stop) {
  const EarlierFiles files(earlier, TrustedDirectories(index, shown));
  AskRun run(index, positions, files, shown, parallelism, stop);
  run.run();
  return run.result();
}

}  // namespace fastdump
