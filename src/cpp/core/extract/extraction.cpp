#include "core/extract/extraction.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <span>
#include <string_view>
#include <utility>

#include "core/concurrency/pipeline.hpp"
#include "core/io/descriptors.hpp"
#include "core/io/file.hpp"
#include "core/io/new_file.hpp"

namespace fastdump {
namespace {

// A piece of this size stays in a CPU's cache between being read and being written.
constexpr std::size_t kPieceNbytes = 256 << 10;

// The source, the directory, and the new file or the one that may be kept.
constexpr std::size_t kDescriptorsOfThread = 3;

std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string_view name_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Opens a directory below an open one. Those that are not there are made; links are not followed.
File open_below(int above, std::string_view relative) {
  File found;
  int directory = above;
  for (std::size_t begin = 0; begin < relative.size();) {
    const std::size_t end = std::min(relative.find('/', begin), relative.size());
    const std::string name(relative.substr(begin, end - begin));
    File next = File::own(directory, name.c_str(), OpenAs::directory);
    if (next.error() == ENOENT) {
      // Another thread may be faster.
      retry_interrupted([&] { return system().make_directory(directory, name.c_str()); });
      next = File::own(directory, name.c_str(), OpenAs::directory);
    }
    found = std::move(next);
    if (found.error() != 0) break;
    directory = found.descriptor();
    begin = end + 1;
  }
  return found;
}

// Whether a file is what would be written: it got its name when it was complete, but perhaps with
// other options, or of another source.
bool is_complete(const File& file, std::string_view head, std::uint64_t nbytes,
                 std::int64_t not_before_ns) {
  FileStatus status;
  if (file.status(status) != 0) return false;
  if (status.nbytes != nbytes || status.modified_ns < not_before_ns) return false;
  std::string found(head.size(), '\0');
  const ReadResult read = read_at(file, std::as_writable_bytes(std::span(found)), 0);
  return read.error == 0 && read.nbytes == head.size() && found == head;
}

// Bytes of a source that is open, of which some are at hand already.
class SourceBytes {
 public:
  SourceBytes(const ExtractSource& source, std::span<const Extract> extracts,
              std::span<std::byte> buffer)
      : state_(source.state), buffer_(buffer), file_(source.path.c_str()) {
    if (file_.error() != 0 || file_.status(status_) != 0 || state_of(status_) != state_) return;
    is_usable_ = true;
    load(extracts);
  }

  // Whether the file is as it was when the ranges were found.
  bool is_usable() const { return is_usable_; }
  std::int64_t modified_ns() const { return status_.modified_ns; }

  // Some bytes, no more than a piece, of which fewer are there if the file cannot be read.
  std::span<const std::byte> piece(std::uint64_t offset, std::size_t nbytes) {
    if (is_loaded_) return buffer_.subspan(static_cast<std::size_t>(offset - loaded_from_), nbytes);
    const ReadResult read = read_at(file_, buffer_.first(nbytes), offset);
    return buffer_.first(read.error == 0 ? read.nbytes : 0);
  }

  // What was read until now holds only if this is asked after it.
  bool is_unchanged() const { return is_loaded_ || file_.check_state(state_) == 0; }

 private:
  // Reads all ranges at once if they lie close together: one call for the file, and one that asks
  // for its state, for all of them.
  void load(std::span<const Extract> extracts) {
    std::uint64_t begin = extracts.empty() ? 0 : extracts.front().offset;
    std::uint64_t end = begin;
    for (const Extract& extract : extracts) {
      begin = std::min(begin, extract.offset);
      end = std::max(end, extract.offset + extract.nbytes);
    }
    if (end - begin > buffer_.size()) return;
    const auto nbytes = static_cast<std::size_t>(end - begin);
    const ReadResult read = read_at(file_, buffer_.first(nbytes), begin);
    is_usable_ = read.error == 0 && read.nbytes == nbytes && file_.check_state(state_) == 0;
    is_loaded_ = true;
    loaded_from_ = begin;
  }

  const FileState state_;
  const std::span<std::byte> buffer_;
  File file_;
  FileStatus status_;
  bool is_usable_ = false;
  bool is_loaded_ = false;
  std::uint64_t loaded_from_ = 0;
};

// What one thread keeps between sources.
struct ExtractThread {
  ThreadStopwatch stopwatch;
  std::vector<std::byte> buffer = std::vector<std::byte>(kPieceNbytes);
  // Sources beside each other often have one directory for what is made of them.
  std::optional<std::uint32_t> directory_number;
  File directory;
};

// The items are sources.
class ExtractRun final : public Pipeline<NoJob, ExtractThread> {
 public:
  ExtractRun(const ExtractPlan& plan, const ExtractOptions& options,
             std::vector<ExtractOutcome>& outcomes, std::atomic<std::uint64_t>& files_done,
             std::atomic<std::uint64_t>& bytes_done, const std::atomic<bool>& stop)
      : Pipeline(options.parallelism,
                 threads_with_descriptors(Depth::most(options.parallelism), kDescriptorsOfThread),
                 stop),
        plan_(plan),
        options_(options),
        outcomes_(outcomes),
        files_done_(files_done),
        bytes_done_(bytes_done) {
    std::random_device device;
    next_number_ = (std::uint64_t{device()} << 32) | device();
  }

 private:
  std::unique_ptr<ExtractThread> make_context() override {
    return std::make_unique<ExtractThread>();
  }

  void find_items(ExtractThread&) override { add_items(plan_.sources.size()); }

  void do_item(std::size_t i, ExtractThread& thread) override {
    try {
      extract(i, thread);
    } catch (const std::bad_alloc&) {
      // What is not done is left.
    }
    ++files_done_;
  }

  void extract(std::size_t i, ExtractThread& thread) {
    const ExtractSource& source = plan_.sources[i];
    const std::size_t begin = i == 0 ? 0 : plan_.sources[i - 1].end;
    const int directory = open_directory(source.directory, thread);
    if (directory < 0) return;
    const auto extracts = std::span(plan_.extracts).subspan(begin, source.end - begin);
    SourceBytes bytes(source, extracts, thread.buffer);
    if (!bytes.is_usable()) return;
    std::string name(name_of(source.path));
    const std::size_t stem = name.size();
    for (std::size_t at = 0; at < extracts.size() && !has_ended(); ++at) {
      const ExtractKind& kind = plan_.kinds[extracts[at].kind];
      name.resize(stem);
      name += kind.suffix;
      outcomes_[begin + at] = extract_one(extracts[at], kind.head, directory, name, bytes);
    }
  }

  // A descriptor, or -1.
  int open_directory(std::uint32_t number, ExtractThread& thread) const {
    const std::string& relative = plan_.directories[number];
    if (relative.empty()) return options_.output_directory;
    if (thread.directory_number != number) {
      thread.directory_number.reset();
      thread.directory = open_below(options_.output_directory, relative);
      if (thread.directory.error() != 0) return -1;
      thread.directory_number = number;
    }
    return thread.directory.descriptor();
  }

  ExtractOutcome extract_one(const Extract& extract, std::string_view head, int directory,
                             const std::string& name, SourceBytes& bytes) {
    {
      const File old = File::own(directory, name.c_str(), OpenAs::file);
      if (old.error() == 0) {
        const std::uint64_t nbytes = head.size() + extract.nbytes;
        const bool is_kept =
            !options_.overwrite && is_complete(old, head, nbytes, bytes.modified_ns());
        return is_kept ? ExtractOutcome::kept : ExtractOutcome::left;
      }
      if (old.error() != ENOENT) return ExtractOutcome::left;
    }
    NewFile file(directory, next_number_++);
    if (file.error() != 0) return ExtractOutcome::left;
    const bool is_whole = write(extract, head, bytes, file) && bytes.is_unchanged();
    return is_whole && file.finish(name.c_str()) == 0 ? ExtractOutcome::written
                                                      : ExtractOutcome::left;
  }

  bool write(const Extract& extract, std::string_view head, SourceBytes& bytes, NewFile& file) {
    std::uint64_t done = 0;
    do {
      const auto n =
          static_cast<std::size_t>(std::min<std::uint64_t>(extract.nbytes - done, kPieceNbytes));
      const auto piece = bytes.piece(extract.offset + done, n);
      const auto before = as_bytes(done == 0 ? head : std::string_view());
      if (piece.size() != n || has_ended() || file.write(before, piece) != 0) return false;
      bytes_done_ += before.size() + n;
      done += n;
    } while (done < extract.nbytes);
    return true;
  }

  Step do_step(NoJob&, ExtractThread&) override { return {}; }
  std::shared_ptr<NoJob> end_job(NoJob&, ExtractThread&) override { return nullptr; }
  void report(ExtractThread&) override {}
  void end_thread(ExtractThread&) override {}

  const ExtractPlan& plan_;
  const ExtractOptions& options_;
  std::vector<ExtractOutcome>& outcomes_;
  std::atomic<std::uint64_t>& files_done_;
  std::atomic<std::uint64_t>& bytes_done_;
  std::atomic<std::uint64_t> next_number_;
};

}  // namespace

Extraction::Extraction(ExtractPlan plan, ExtractOptions options)
    : plan_(std::move(plan)), options_(options), outcomes_(plan_.extracts.size()) {}

Extraction::~Extraction() { stop(); }

void Extraction::run() {
  ExtractRun(plan_, options_, outcomes_, files_done_, bytes_done_, stop_).run();
}

void Extraction::stop() {
  stop_ = true;
  background_.join();
}

}  // namespace fastdump
