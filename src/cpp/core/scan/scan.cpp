#include "core/scan/scan.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/active_tier.hpp"
#include "core/concurrency/pipeline.hpp"
#include "core/errors.hpp"
#include "core/formats/file_name.hpp"
#include "core/io/descriptors.hpp"
#include "core/reduce/digest.hpp"
#include "core/scan/file_job.hpp"
#include "core/scan/locate.hpp"
#include "core/scan/logical_tensor.hpp"
#include "core/scan/row_limit.hpp"
#include "core/stream/stream_sizes.hpp"
#include "core/tree/file_opener.hpp"
#include "core/tree/walk.hpp"
#include "kernels/fp_environment.hpp"

namespace fastdump {
namespace {

// Why a file is counted as skipped that cannot be read while certain tensors are asked for.
constexpr std::string_view kNoKnownTensor = "damaged file, which may hold what was asked for";

// A file, and the directory that it lies in.
constexpr std::size_t kDescriptorsOfThread = 2;

// Whether somebody may be writing to the file still, as far as its content tells.
bool may_be_unfinished(const FileRows& rows) {
  const auto is_whole = [](Status status) {
    return status == Status::ok || status == Status::unsupported;
  };
  return !rows.state || !is_whole(rows.status) ||
         !std::ranges::all_of(rows.tensors, is_whole,
                              [](const TensorRow& row) { return row.tensor.status; });
}

// The largest file whose tensors get digests: to read the rest of a larger one, which may not be
// needed, takes longer than it saves to read two such files again.
constexpr std::size_t kDigestedNbytes = std::size_t{16} << 10;

// What one thread keeps between files, and what it has found.
struct ScanThread {
  ScanThread(const FileTree& tree, const ScanOptions& options)
      : opener(tree),
        reduction(active_tier(), options.level.value_or(kernels::Level::health)),
        rows({options.level, options.digests}) {}

  ThreadStopwatch stopwatch;
  const kernels::DefaultFpEnvironment environment;
  FileOpener opener;
  Reduction::Thread reduction;
  std::vector<FileDescription> dumps;  // memory that is reused
  FoundRows rows;
  SkippedFiles skipped;
  std::map<std::uint32_t, SkippedFiles> skipped_in;  // by directory: of its files
  std::set<std::uint32_t> damaged;                   // directories
  ScanProgress done;                                 // since report()
  std::uint64_t row_nbytes = 0;                      // since report()
};

// The items are files, the jobs are large ones.
class ScanRun final : public Pipeline<FileJob, ScanThread> {
 public:
  // `tree` has the files to scan, or is filled by walking `roots`.
  ScanRun(const std::vector<std::string>& roots, FileTree& tree, const ScanOptions& options,
          ScanCounters& counters, const std::atomic<bool>& stop)
      : Pipeline(options.parallelism,
                 threads_with_descriptors(Depth::most(options.parallelism), kDescriptorsOfThread),
                 stop),
        tree_(tree),
        options_(options),
        counters_(counters) {
    if (!roots.empty()) walk_.emplace(roots, options.walk, stop, counters.files_found, tree);
  }

  // What the threads have found, after run().
  std::vector<FoundRows> take_rows() { return std::move(rows_); }

 private:
  std::unique_ptr<ScanThread> make_context() override {
    return std::make_unique<ScanThread>(tree_, options_);
  }

  void find_items(ScanThread& thread) override {
    add_items(walk_ ? walk_->begin(thread.skipped) : tree_.size());
    note_end_of_walk();
  }

  void do_item(std::size_t i, ScanThread& thread) override {
    const Walk::Item item = walk_ ? walk_->item(i) : Walk::Item{i, false};
    if (item.is_directory) {
      add_items(walk_->list(item.number, thread.skipped));
      note_end_of_walk();
      return;
    }
    try {
      scan_file(item.number, thread);
    } catch (const std::exception& error) {
      add_failed_file(item.number, error, thread);
    }
    // A large file may be left unfinished.
    if (!has_ended()) ++thread.done.files_done;
  }

  void note_end_of_walk() {
    if (!walk_ || walk_->has_ended()) counters_.walking = false;
  }

  void scan_file(std::size_t file, ScanThread& thread) {
    std::span<std::byte> buffer = thread.reduction.buffers.file_start();
    if (options_.digests) buffer = buffer.first(kDigestedNbytes);
    LocatedFile located =
        locate(thread.opener, file, options_.selection, first_read(), buffer, thread.dumps);
    if (const auto* skipped = std::get_if<SkippedFile>(&located)) {
      skip(file, skipped->reason, thread);
    } else if (auto* finished = std::get_if<FinishedFile>(&located)) {
      add_rows(std::move(finished->rows), thread);
    } else if (auto* reported = std::get_if<ReportedFile>(&located)) {
      thread.done.bytes_done += reported->nbytes;
      for (FileRows rows; !has_ended() && reported->rows.next(rows);) {
        add_rows(std::move(rows), thread);
      }
    } else if (auto* tensors = std::get_if<LocatedTensors>(&located)) {
      scan_tensors(*tensors, thread);
    }
  }

  // To copy a small file from the page cache takes as long as to open it, and of a header's scan
  // nobody looks at the rest. Storage that is far away is asked once, for whoever reads on later.
  FirstRead first_read() const {
    const bool looks_at_payloads = options_.level || options_.digests;
    return looks_at_payloads || waits_for_storage() ? FirstRead::small_file : FirstRead::header;
  }

  void scan_tensors(LocatedTensors& located, ScanThread& thread) {
    if (!options_.level) {
      if (options_.digests && located.is_whole()) add_digests(located);
      add_rows(std::move(located.rows), thread);
      return;
    }
    std::erase_if(located.rows.tensors, [this](const TensorRow& row) {
      return !options_.selection.may_get(row.tensor.status);
    });
    if (located.rows.tensors.empty()) return;
    if (options_.logical) find_logical(located.rows);
    reduce_what_is_here(located, thread.reduction);
    if (located.is_whole()) {
      thread.done.bytes_done += located.nbytes;
      add_rows(std::move(located.rows), thread);
    } else {
      reduce_the_rest(located, thread);
    }
  }

  static void add_digests(LocatedTensors& located) {
    for (TensorRow& row : located.rows.tensors) {
      const TensorDescription& tensor = row.tensor;
      if (tensor.status != Status::ok || tensor.offset > located.head.size()) continue;
      if (tensor.nbytes > located.head.size() - tensor.offset) continue;
      row.digest = digest_of(located.head.subspan(tensor.offset, tensor.nbytes), digest_points());
    }
  }

  static void find_logical(FileRows& rows) {
    for (TensorRow& row : rows.tensors) {
      if (!is_reducible(row.tensor)) continue;
      std::string why;
      row.logical = find_logical_elements(row.tensor, why);
      if (!why.empty()) note_padding(row.tensor, why);
    }
  }

  // Reduces all tensors of a file that is in memory whole, and those of any other file whose bytes
  // need not be looked at.
  static void reduce_what_is_here(LocatedTensors& located, Reduction::Thread& thread) {
    const bool is_whole = located.is_whole();
    for (TensorRow& row : located.rows.tensors) {
      const TensorDescription& tensor = row.tensor;
      if (!is_reducible(tensor)) continue;
      const std::uint64_t n = row.n_elements();
      if (!is_whole && n != 0 && thread.reducer.needs_bytes(tensor.dtype->element)) continue;
      thread.reducer.begin(tensor.dtype->element);
      if (is_whole && row.is_gathered()) {
        gather_and_reduce(located.head, row, thread);
      } else if (n != 0) {
        const std::byte* data = is_whole ? located.head.data() + tensor.offset : nullptr;
        thread.reducer.add(data, n, 0);
      }
      row.logical.reset();
      row.statistics = thread.reducer.finish();
    }
  }

  static void gather_and_reduce(std::span<const std::byte> file, const TensorRow& row,
                                Reduction::Thread& thread) {
    const Strip strip = {row.tensor.offset, row.tensor.dtype->bits, row.logical};
    const Track<1> track = {{strip}, row.n_elements()};
    read_pieces<1>({std::make_shared<Source>(file)}, track, 0, track.n_elements, thread.buffers,
                   thread.reducer);
  }

  // A file of no more than a chunk is not worth the help of other threads.
  void reduce_the_rest(LocatedTensors& located, ScanThread& thread) {
    const bool is_small = nbytes_to_reduce(located.rows) <= stream_sizes().chunk_nbytes;
    // The head lies in this thread's buffer, which stays as it is for as long as this file is read.
    const auto head =
        is_small ? located.head.first(StreamBuffers::kKeptNbytes) : std::span<const std::byte>{};
    const auto job =
        std::make_shared<FileJob>(std::move(located.file), located.nbytes, std::move(located.rows),
                                  head, options_.engine, meter_);
    if (job->n_chunks() == 0) {
      add_rows(job->finish(), thread);
    } else if (!is_small) {
      publish(job, thread);
    } else {
      bool is_done = false;
      while (!is_done && !has_ended()) is_done = do_step(*job, thread).is_last;
      if (is_done) add_rows(job->finish(), thread);
    }
  }

  Step do_step(FileJob& job, ScanThread& thread) override {
    meter_.set_reads_only(waits_for_storage());
    const Step step = job.step(thread.reduction);
    // The kernel reads ahead of a mapping: more threads would do no more than have more in memory.
    if (options_.engine == Engine::mmap) thread.stopwatch.restart();
    thread.done.bytes_done += step.nbytes;
    return step;
  }

  std::shared_ptr<FileJob> end_job(FileJob& job, ScanThread& thread) override {
    try {
      add_rows(job.finish(), thread);
    } catch (const std::exception& error) {
      add_failed_file(job.file(), error, thread);
    }
    return nullptr;
  }

  void skip(std::size_t file, std::string_view reason, ScanThread& thread) {
    count_skipped(thread.skipped, reason);
    count_skipped(thread.skipped_in[tree_.directory_index(file)], reason);
  }

  // Adds the rows that are asked for, now that all is known of them.
  void add_rows(FileRows rows, ScanThread& thread) {
    if (may_be_unfinished(rows)) thread.damaged.insert(tree_.directory_index(rows.file));
    const Selection& selection = options_.selection;
    if (rows.tensors.empty()) {
      if (!selection.has(rows.status)) return;
      if (selection.restricts_tensors()) {
        if (rows.status != Status::ok) skip(rows.file, kNoKnownTensor, thread);
        return;
      }
    } else if (!selection.status.empty()) {
      std::erase_if(rows.tensors,
                    [&](const TensorRow& row) { return !selection.has(row.tensor.status); });
      if (rows.tensors.empty()) return;
    }
    std::uint64_t n_bad = rows.tensors.empty() && rows.status != Status::ok ? 1 : 0;
    for (const TensorRow& row : rows.tensors) n_bad += is_bad(row) ? 1 : 0;
    const std::size_t n_tensors = rows.tensors.size();
    thread.rows.add(tree_, rows);
    thread.row_nbytes += row_nbytes(rows);
    thread.done.tensors += n_tensors;
    thread.done.bad += n_bad;
  }

  // Whatever is thrown for a file becomes the file's row.
  void add_failed_file(std::size_t file, const std::exception& error, ScanThread& thread) {
    FileRows rows;
    rows.file = file;
    rows.name = parse_file_name(tree_.real_name(file));
    if (!rows.name.is_dump()) {
      thread.damaged.insert(tree_.directory_index(file));
      skip(file, "file that cannot be read", thread);
      return;
    }
    const bool lacks_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
    rows.status = lacks_memory ? Status::unreadable : Status::malformed;
    rows.note.add(lacks_memory ? std::strerror(ENOMEM) : error.what());
    add_rows(std::move(rows), thread);
  }

  // Once for several files: counters that all threads write are slow to write.
  void report(ScanThread& thread) override {
    ScanProgress& done = thread.done;
    counters_.files_done.fetch_add(done.files_done, std::memory_order_relaxed);
    counters_.bytes_done.fetch_add(done.bytes_done, std::memory_order_relaxed);
    counters_.tensors.fetch_add(done.tensors, std::memory_order_relaxed);
    counters_.bad.fetch_add(done.bad, std::memory_order_relaxed);
    done = {};
    const std::uint64_t nbytes =
        row_nbytes_.fetch_add(thread.row_nbytes, std::memory_order_relaxed) + thread.row_nbytes;
    thread.row_nbytes = 0;
    if (nbytes > max_row_nbytes_) {
      throw TableTooLargeError("the rows take more than " + std::to_string(max_row_nbytes_ >> 20) +
                               " MiB of memory; select some of the tensors, or set "
                               "FASTDUMP_ROWS_MIB to a larger number");
    }
  }

  void end_thread(ScanThread& thread) override {
    const std::lock_guard lock(mutex_);
    rows_.push_back(std::move(thread.rows));
    add_skipped(tree_.skipped, thread.skipped);
    for (const auto& [directory, skipped] : thread.skipped_in) {
      tree_.add_skipped_in(directory, skipped);
    }
    for (const std::uint32_t directory : thread.damaged) tree_.set_damage_in(directory);
  }

  FileTree& tree_;
  const ScanOptions& options_;
  ScanCounters& counters_;
  std::optional<Walk> walk_;  // empty: the tree has all files
  EngineMeter meter_;
  std::mutex mutex_;
  std::vector<FoundRows> rows_;
  const std::uint64_t max_row_nbytes_ = max_row_nbytes();
  std::atomic<std::uint64_t> row_nbytes_ = 0;
};

}  // namespace

Scan::Scan(std::vector<std::string> roots, ScanOptions options)
    : roots_(std::move(roots)), options_(std::move(options)) {}

Scan::Scan(FileTree tree, ScanOptions options)
    : options_(std::move(options)), tree_(std::move(tree)) {
  counters_.files_found = tree_.size();
}

Scan::~Scan() { stop(); }

void Scan::run() {
  stream_sizes();  // a setting that is wrong is told before anything is read
  ScanRun run(roots_, tree_, options_, counters_, stop_);
  run.run();
  rows_ = run.take_rows();
}

std::vector<FoundRows> Scan::take_rows() {
  if (rows_are_taken_) throw std::logic_error("the rows of a scan are taken once");
  rows_are_taken_ = true;
  return std::move(rows_);
}

void Scan::stop() {
  stop_ = true;
  background_.join();
}

ScanProgress Scan::progress() const {
  return {counters_.walking,    counters_.files_found, counters_.files_done,
          counters_.bytes_done, counters_.tensors,     counters_.bad};
}

}  // namespace fastdump
