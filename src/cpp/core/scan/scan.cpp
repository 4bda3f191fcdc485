#include "core/scan/scan.hpp"

#include <algorithm>
#include <deque>
#include <system_error>
#include <utility>

#include "core/errors.hpp"
#include "core/formats/tensor_format.hpp"
#include "core/scan/file_job.hpp"
#include "core/scan/locate.hpp"
#include "core/scan/resources.hpp"
#include "core/scan/threads.hpp"
#include "core/scan/worker.hpp"
#include "kernels/fp_environment.hpp"

namespace fastdump {
namespace {

// Files that a thread takes from the list at once: fewer visits to the lock, still an even end.
constexpr std::size_t kMaxBatch = 16;

// The work list and the threads that share it.
class Pipeline {
 public:
  Pipeline(FileTree& tree, const ScanOptions& options, ScanCounters& counters,
           const std::atomic<bool>& stop)
      : tree_(tree),
        options_(options),
        counters_(counters),
        stop_(stop),
        batch_(std::clamp<std::size_t>(
            tree.size() / (8 * static_cast<std::size_t>(options.threads)), 1, kMaxBatch)) {}

  std::vector<FileRows> run() {
    run_in_threads(static_cast<std::size_t>(options_.threads), [this] { run_thread(); });
    if (failure_ != nullptr) std::rethrow_exception(failure_);
    return std::move(rows_);
  }

 private:
  // What one thread has found, merged into the whole when it ends, and its scratch.
  struct Found {
    std::vector<FileRows> rows;
    SkippedFiles skipped;
    std::vector<FileDescription> dumps;
  };

  void run_thread() {
    const kernels::DefaultFpEnvironment environment;
    Found found;
    try {
      Worker worker(active_tier(), options_.level.value_or(kernels::Level::health));
      while (next(worker, found)) {
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (failure_ == nullptr) failure_ = std::current_exception();
      failed_ = true;
      changed_.notify_all();
    }
    const std::lock_guard lock(mutex_);
    rows_.insert(rows_.end(), std::make_move_iterator(found.rows.begin()),
                 std::make_move_iterator(found.rows.end()));
    for (const auto& [reason, n] : found.skipped) tree_.skipped[reason] += n;
  }

  // Does the next piece of work: a chunk of a large file before new files, so that few are open.
  // False if there is none and there will be none.
  bool next(Worker& worker, Found& found) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
      return ended() || !jobs_.empty() || next_file_ < tree_.size() || n_locating_ == 0;
    });
    if (ended()) return false;
    if (!jobs_.empty()) {
      const std::shared_ptr<FileJob> job = jobs_.front();
      lock.unlock();
      help(job, worker, found);
      return true;
    }
    if (next_file_ == tree_.size()) return false;
    const std::size_t begin = next_file_;
    next_file_ = std::min(begin + batch_, tree_.size());
    const std::size_t end = next_file_;
    ++n_locating_;
    lock.unlock();
    for (std::size_t file = begin; file < end && !stop_; ++file) {
      scan_file(file, worker, found);
      // A large file may be left unfinished.
      if (!ended()) counters_.files_done.fetch_add(1, std::memory_order_relaxed);
    }
    lock.lock();
    --n_locating_;
    if (n_locating_ == 0) changed_.notify_all();
    return true;
  }

  bool ended() const { return stop_ || failed_; }

  void scan_file(std::size_t file, Worker& worker, Found& found) {
    LocatedFile located = locate(tree_, file, options_.selection, worker.buffer(), found.dumps);
    switch (located.kind) {
      case LocatedFile::Kind::excluded:
        return;
      case LocatedFile::Kind::skipped:
        ++found.skipped[std::string(located.reason)];
        return;
      case LocatedFile::Kind::row:
        keep(std::move(located.rows), found);
        return;
      case LocatedFile::Kind::reported:
        counters_.bytes_done.fetch_add(located.size, std::memory_order_relaxed);
        for (FileRows& rows : located.reported) keep(std::move(rows), found);
        return;
      case LocatedFile::Kind::tensors:
        break;
    }
    if (!options_.level) {
      keep(std::move(located.rows), found);
      return;
    }
    if (options_.logical) find_logical(located.rows);
    reduce(std::move(located), worker, found);
  }

  static void find_logical(FileRows& rows) {
    for (TensorRow& row : rows.tensors) {
      if (!is_reducible(row.tensor)) continue;
      std::string why;
      row.logical = find_logical_elements(row.tensor, why);
      if (!why.empty()) note_padding(row.tensor, why);
    }
  }

  void reduce(LocatedFile located, Worker& worker, Found& found) {
    const bool whole = located.head.size() == located.size;
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
      counters_.bytes_done.fetch_add(located.size, std::memory_order_relaxed);
      keep(std::move(located.rows), found);
      return;
    }
    const auto job = std::make_shared<FileJob>(std::move(located.file), located.size,
                                               std::move(located.rows), options_.engine, meter_);
    if (job->empty()) {
      keep(job->take_rows(), found);
      return;
    }
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(job);
    }
    changed_.notify_all();
    help(job, worker, found);
  }

  // Works on the job until no chunk is left.
  void help(const std::shared_ptr<FileJob>& job, Worker& worker, Found& found) {
    while (!ended()) {
      const FileJob::Work work = job->work(worker);
      counters_.bytes_done.fetch_add(work.nbytes, std::memory_order_relaxed);
      if (work.last) keep(job->take_rows(), found);
      if (work.nbytes == 0) break;
    }
    const std::lock_guard lock(mutex_);
    std::erase(jobs_, job);
  }

  void keep(FileRows rows, Found& found) {
    std::uint64_t n_bad = rows.tensors.empty() && rows.status != Status::ok ? 1 : 0;
    for (const TensorRow& row : rows.tensors) n_bad += is_bad(row) ? 1 : 0;
    counters_.tensors.fetch_add(rows.tensors.size(), std::memory_order_relaxed);
    counters_.bad.fetch_add(n_bad, std::memory_order_relaxed);
    found.rows.push_back(std::move(rows));
  }

  FileTree& tree_;
  const ScanOptions& options_;
  ScanCounters& counters_;
  const std::atomic<bool>& stop_;
  const std::size_t batch_;
  EngineMeter meter_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_file_ = 0;
  std::size_t n_locating_ = 0;  // threads that may still find a large file
  std::deque<std::shared_ptr<FileJob>> jobs_;
  std::vector<FileRows> rows_;
  std::exception_ptr failure_;  // the first
  std::atomic<bool> failed_ = false;
};

}  // namespace

Scan::Scan(std::vector<std::string> roots, ScanOptions options)
    : roots_(std::move(roots)), options_(std::move(options)) {}

Scan::Scan(FileTree tree, ScanOptions options)
    : options_(std::move(options)), tree_(std::move(tree)) {
  counters_.files_found = tree_.size();
}

Scan::~Scan() { stop(); }

void Scan::start() {
  const auto work = [this] {
    try {
      run();
    } catch (...) {
      failure_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    ended_.notify_all();
  };
  try {
    thread_ = std::thread(work);
  } catch (const std::system_error& error) {
    throw SystemError(error.code().value(), "");
  }
}

void Scan::run() {
  if (!roots_.empty()) tree_ = walk(roots_, options_.walk, stop_, counters_.files_found);
  counters_.walking = false;
  rows_ = Pipeline(tree_, options_, counters_, stop_).run();
}

bool Scan::wait_for(std::chrono::milliseconds timeout) {
  {
    std::unique_lock lock(mutex_);
    if (!ended_.wait_for(lock, timeout, [&] { return has_ended_; })) return false;
  }
  if (thread_.joinable()) thread_.join();
  if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
  return true;
}

void Scan::stop() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

ScanProgress Scan::progress() const {
  return {counters_.walking,    counters_.files_found, counters_.files_done,
          counters_.bytes_done, counters_.tensors,     counters_.bad};
}

}  // namespace fastdump
