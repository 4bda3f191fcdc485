#include "core/scan/scan.hpp"

#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/active_tier.hpp"
#include "core/concurrency/threads.hpp"
#include "core/concurrency/work_list.hpp"
#include "core/errors.hpp"
#include "core/formats/tensor_format.hpp"
#include "core/scan/file_job.hpp"
#include "core/scan/locate.hpp"
#include "core/scan/worker.hpp"
#include "core/stream/stream_sizes.hpp"
#include "kernels/fp_environment.hpp"

namespace fastdump {
namespace {

// Why a file is counted as skipped that cannot be read while certain tensors are asked for.
constexpr std::string_view kNoKnownTensor = "damaged file, which may hold what was asked for";

// The work list and the threads that share it. A large file's chunks come before new files.
class Pipeline {
 public:
  // `tree` has the files to scan, or is filled by walking `roots`.
  Pipeline(const std::vector<std::string>& roots, FileTree& tree, const ScanOptions& options,
           ScanCounters& counters, const std::atomic<bool>& stop)
      : roots_(roots),
        tree_(tree),
        options_(options),
        counters_(counters),
        stop_(stop),
        list_(options.threads, stop) {}

  std::vector<FoundRows> run() {
    stream_sizes();  // a setting that is wrong is told before anything is read
    run_in_threads(static_cast<std::size_t>(options_.threads), [this] { run_thread(); });
    list_.rethrow_failure();
    return std::move(rows_);
  }

 private:
  // What one thread has found, merged into the whole when it ends, and its scratch.
  struct Found {
    Found(const FileTree& tree, std::optional<kernels::Level> level) : opener(tree), rows(level) {}

    FileOpener opener;
    FoundRows rows;
    SkippedFiles skipped;
    std::vector<FileDescription> dumps;
    ScanProgress done;  // since report()
  };

  void run_thread() {
    const kernels::DefaultFpEnvironment environment;
    Found found(tree_, options_.level);
    try {
      if (!has_begun_.exchange(true)) find_files(found.skipped);
      Worker worker(active_tier(), options_.level.value_or(kernels::Level::health));
      while (next(worker, found)) {
      }
    } catch (...) {
      list_.fail(std::current_exception());
    }
    const std::lock_guard lock(mutex_);
    rows_.push_back(std::move(found.rows));
    for (const auto& [reason, n] : found.skipped) tree_.skipped[reason] += n;
  }

  // One thread walks; the others begin with what it has found, and it joins them in the end.
  void find_files(SkippedFiles& skipped) {
    const auto on_files = [this] { list_.grow(tree_.size()); };
    if (!roots_.empty()) {
      walk(roots_, options_.walk, stop_, counters_.files_found, tree_, skipped, on_files);
    }
    on_files();
    counters_.walking = false;
    list_.end_growth();
  }

  // Does the next piece of work. False if there is none and there will be none.
  bool next(Worker& worker, Found& found) {
    const auto work = list_.next();
    if (!work) return false;
    if (work->job != nullptr) {
      help(work->job, worker, found);
      return true;
    }
    for (std::size_t file = work->begin; file < work->end && !list_.ended(); ++file) {
      scan_file(file, worker, found);
      // A large file may be left unfinished.
      if (!list_.ended()) ++found.done.files_done;
    }
    report(found.done);
    list_.end_items();
    return true;
  }

  void scan_file(std::size_t file, Worker& worker, Found& found) {
    LocatedFile located =
        locate(found.opener, file, options_.selection, worker.buffer(), found.dumps);
    if (const auto* skipped = std::get_if<SkippedFile>(&located)) {
      ++found.skipped[std::string(skipped->reason)];
    } else if (auto* finished = std::get_if<FinishedFile>(&located)) {
      found.done.bytes_done += finished->nbytes;
      for (FileRows& rows : finished->rows) keep(std::move(rows), found);
    } else if (auto* tensors = std::get_if<LocatedTensors>(&located)) {
      scan_tensors(*tensors, worker, found);
    }
  }

  void scan_tensors(LocatedTensors& located, Worker& worker, Found& found) {
    if (!options_.level) {
      keep(std::move(located.rows), found);
      return;
    }
    std::erase_if(located.rows.tensors, [this](const TensorRow& row) {
      return !options_.selection.may_get(row.tensor.status);
    });
    if (located.rows.tensors.empty()) return;
    if (options_.logical) find_logical(located.rows);
    reduce(located, worker, found);
  }

  static void find_logical(FileRows& rows) {
    for (TensorRow& row : rows.tensors) {
      if (!is_reducible(row.tensor)) continue;
      std::string why;
      row.logical = find_logical_elements(row.tensor, why);
      if (!why.empty()) note_padding(row.tensor, why);
    }
  }

  void reduce(LocatedTensors& located, Worker& worker, Found& found) {
    const bool whole = located.is_whole();
    for (TensorRow& row : located.rows.tensors) {
      const TensorDescription& tensor = row.tensor;
      if (!is_reducible(tensor)) continue;
      const kernels::Element element = tensor.dtype->element;
      const std::uint64_t n = row.n_elements();
      const bool here = whole || n == 0 || !worker.needs_bytes(element);
      if (!here) continue;
      worker.clear();
      // Only a whole file's bytes are looked at: without them nothing is.
      const std::byte* data = whole && n != 0 ? located.head.data() + tensor.offset : nullptr;
      if (data != nullptr && row.is_gathered()) {
        worker.reduce_gathered(element, *row.logical, data, 0, n);
      } else if (n != 0) {
        worker.reduce(element, data, n, 0);
      }
      row.logical.reset();
      row.statistics = worker.finish(element);
    }
    if (whole) {
      found.done.bytes_done += located.nbytes;
      keep(std::move(located.rows), found);
      return;
    }
    const auto job = std::make_shared<FileJob>(std::move(located.file), located.nbytes,
                                               std::move(located.rows), options_.engine, meter_);
    if (job->empty()) {
      keep(job->take_rows(), found);
      return;
    }
    list_.add(job);
    help(job, worker, found);
  }

  // Works on the job until no chunk is left.
  void help(const std::shared_ptr<FileJob>& job, Worker& worker, Found& found) {
    while (!list_.ended()) {
      const FileJob::Work work = job->work(worker);
      found.done.bytes_done += work.nbytes;
      if (work.last) {
        keep(job->take_rows(), found);
        list_.end_job();
      }
      report(found.done);
      if (work.nbytes == 0) break;
    }
    list_.remove(job);
  }

  // Keeps what is asked for, now that all is known of it.
  void keep(FileRows rows, Found& found) {
    const Selection& selection = options_.selection;
    if (rows.tensors.empty()) {
      if (!selection.has(rows.status)) return;
      if (selection.restricts_tensors()) {
        if (rows.status != Status::ok) ++found.skipped[std::string(kNoKnownTensor)];
        return;
      }
    } else if (!selection.status.empty()) {
      std::erase_if(rows.tensors,
                    [&](const TensorRow& row) { return !selection.has(row.tensor.status); });
      if (rows.tensors.empty()) return;
    }
    std::uint64_t n_bad = rows.tensors.empty() && rows.status != Status::ok ? 1 : 0;
    for (const TensorRow& row : rows.tensors) n_bad += is_bad(row) ? 1 : 0;
    found.done.tensors += rows.tensors.size();
    found.done.bad += n_bad;
    found.rows.add(tree_, rows);
  }

  // Once for several files: counters that all threads write are slow to write.
  void report(ScanProgress& done) {
    counters_.files_done.fetch_add(done.files_done, std::memory_order_relaxed);
    counters_.bytes_done.fetch_add(done.bytes_done, std::memory_order_relaxed);
    counters_.tensors.fetch_add(done.tensors, std::memory_order_relaxed);
    counters_.bad.fetch_add(done.bad, std::memory_order_relaxed);
    done = {};
  }

  const std::vector<std::string>& roots_;
  FileTree& tree_;
  const ScanOptions& options_;
  ScanCounters& counters_;
  const std::atomic<bool>& stop_;
  std::atomic<bool> has_begun_ = false;
  EngineMeter meter_;
  WorkList<FileJob> list_;
  std::mutex mutex_;
  std::vector<FoundRows> rows_;
};

}  // namespace

Scan::Scan(std::vector<std::string> roots, ScanOptions options)
    : roots_(std::move(roots)), options_(std::move(options)) {}

Scan::Scan(FileTree tree, ScanOptions options)
    : options_(std::move(options)), tree_(std::move(tree)) {
  counters_.files_found = tree_.size();
}

Scan::~Scan() { stop(); }

void Scan::run() { rows_ = Pipeline(roots_, tree_, options_, counters_, stop_).run(); }

void Scan::stop() {
  stop_ = true;
  background_.join();
}

ScanProgress Scan::progress() const {
  return {counters_.walking,    counters_.files_found, counters_.files_done,
          counters_.bytes_done, counters_.tensors,     counters_.bad};
}

}  // namespace fastdump
