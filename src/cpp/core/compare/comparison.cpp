#include "core/compare/comparison.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/active_tier.hpp"
#include "core/compare/element_source.hpp"
#include "core/compare/pair_job.hpp"
#include "core/compare/pair_worker.hpp"
#include "core/concurrency/threads.hpp"
#include "core/concurrency/work_list.hpp"
#include "kernels/fp_environment.hpp"

namespace fastdump {
namespace {

void report_missing(const MissingElements& side, const char* name, PairResult& result) {
  if (side.n == 0) return;
  const std::string missing = std::to_string(side.n) + " elements are missing";
  if (side.error != 0) {
    result.status = Status::unreadable;
  } else if (result.status != Status::unreadable) {
    result.status = Status::truncated;
  }
  const std::string why = side.error != 0 ? std::strerror(side.error) : "the file ends early";
  result.note.add(std::string(name) + ": " + why + ": " + missing);
}

bool is_supported(const TensorPlace& place, const char* name, PairResult& result) {
  if (place.dtype != nullptr && place.dtype->element != kernels::Element::none) return true;
  result.status = Status::unsupported;
  const std::string why =
      place.dtype == nullptr ? "the element type is not known" : std::string(place.dtype->caveat);
  result.note.add(std::string(name) + ": " + why);
  return false;
}

bool is_comparable(const TensorPair& pair, PairResult& result) {
  const bool supported_a = is_supported(pair.a, "a", result);
  const bool supported_b = is_supported(pair.b, "b", result);
  if (!supported_a || !supported_b) return false;
  if (pair.a.n_compared() == pair.b.n_compared()) return true;
  result.status = Status::size_mismatch;
  result.note.add(std::to_string(pair.a.n_compared()) + " elements in a, " +
                  std::to_string(pair.b.n_compared()) + " in b");
  return false;
}

// How the elements of one side are gathered, if they have to be. False if that is impossible.
bool find_gathered(const TensorPlace& place, const char* name, PairResult& result,
                   std::shared_ptr<const LogicalElements>& gathered) {
  if (place.layout == nullptr) return true;
  if (place.layout->n_stored() > place.n_elements) {
    result.status = Status::truncated;
    result.note.add(std::string(name) + ": only " + std::to_string(place.n_elements) + " of " +
                    std::to_string(place.layout->n_stored()) + " stored elements are there");
    return false;
  }
  if (place.layout->is_identity()) return true;
  std::string why;
  auto elements = make_logical_elements(*place.layout, place.dtype->element, why);
  if (elements) {
    gathered = std::make_shared<const LogicalElements>(*std::move(elements));
    return true;
  }
  result.status = Status::unsupported;
  result.note.add(std::string(name) + ": " + why);
  return false;
}

bool is_open(const SharedFile& file, const char* name, PairResult& result) {
  const int error = file.file().error();
  if (error == 0) return true;
  result.status = Status::unreadable;
  result.note.add(std::string(name) + ": " + std::strerror(error));
  return false;
}

// Pairs beside each other often come from the same two files: each is opened once for all of them.
class LastFile {
 public:
  std::shared_ptr<SharedFile> open(const std::string& path) {
    if (file_ == nullptr || path != path_) {
      file_ = std::make_shared<SharedFile>(path);
      path_ = path;
    }
    return file_;
  }

 private:
  std::string path_;
  std::shared_ptr<SharedFile> file_;
};

// The work list and the threads that share it.
class Pipeline {
 public:
  Pipeline(const std::vector<TensorPair>& pairs, const ComparisonOptions& options,
           std::vector<PairResult>& results, std::atomic<std::uint64_t>& pairs_done,
           std::atomic<std::uint64_t>& bytes_done, const std::atomic<bool>& stop)
      : pairs_(pairs),
        options_(options),
        results_(results),
        pairs_done_(pairs_done),
        bytes_done_(bytes_done),
        list_(pairs.size(), options.threads, stop) {}

  void run() {
    run_in_threads(static_cast<std::size_t>(options_.threads), [this] { run_thread(); });
    list_.rethrow_failure();
  }

 private:
  // What one thread keeps between pieces of work.
  struct Thread {
    PairWorker worker;
    LastFile file_a;
    LastFile file_b;
  };

  void run_thread() {
    const kernels::DefaultFpEnvironment environment;
    try {
      Thread thread = {PairWorker(tier_, options_.tolerance), {}, {}};
      while (next(thread)) {
      }
    } catch (...) {
      list_.fail(std::current_exception());
    }
  }

  // Does the next piece of work. False if there is none and there will be none.
  bool next(Thread& thread) {
    const auto work = list_.next();
    if (!work) return false;
    if (work->job != nullptr) {
      help(work->job, thread.worker);
      return true;
    }
    for (std::size_t i = work->begin; i < work->end && !list_.ended(); ++i) compare(i, thread);
    list_.end_items();
    return true;
  }

  void compare(std::size_t i, Thread& thread) {
    const TensorPair& pair = pairs_[i];
    PairResult& result = results_[i];
    if (is_comparable(pair, result)) {
      const auto file_a = thread.file_a.open(pair.a.path);
      const auto file_b = pair.b.path == pair.a.path ? file_a : thread.file_b.open(pair.b.path);
      std::shared_ptr<const LogicalElements> gathered_a;
      std::shared_ptr<const LogicalElements> gathered_b;
      const bool ready_a =
          is_open(*file_a, "a", result) && find_gathered(pair.a, "a", result, gathered_a);
      const bool ready_b =
          is_open(*file_b, "b", result) && find_gathered(pair.b, "b", result, gathered_b);
      if (ready_a && ready_b) {
        const ElementSource a(file_a, pair.a.offset, pair.a.dtype->element, gathered_a);
        const ElementSource b(file_b, pair.b.offset, pair.b.dtype->element, gathered_b);
        if (!compare(i, a, b, thread.worker)) return;
      }
    }
    finish(result);
  }

  void finish(PairResult& result) {
    result.is_done = true;
    ++pairs_done_;
  }

  // False if the pair is not done yet.
  bool compare(std::size_t i, const ElementSource& a, const ElementSource& b, PairWorker& worker) {
    const std::size_t max_loaded = PairWorker::max_loaded(a, b);
    std::uint64_t n = pairs_[i].a.n_compared();
    Missing missing;
    if (n > max_loaded) {
      // No more than there is, however many a header claims.
      missing.a = a.missing(n);
      missing.b = b.missing(n);
      n -= std::max(missing.a.n, missing.b.n);
    }
    if (n > max_loaded) {
      run_job(std::make_shared<PairJob>(i, a, b, n, missing, options_.engine, meter_), worker);
      return false;
    }
    const PairWorker::Loaded loaded = worker.load(a, b, 0, static_cast<std::size_t>(n));
    missing.add(loaded.missing);
    worker.begin(std::nullopt);
    worker.reduce(loaded.operands, loaded.n, 0);
    bytes_done_ += a.nbytes(loaded.n) + b.nbytes(loaded.n);
    PairResult& result = results_[i];
    if (const auto range = end_first_pass(worker.partial(), a, b, missing, result)) {
      worker.begin(range);
      worker.reduce(loaded.operands, loaded.n, 0);
      result.divergence = worker.divergence().finish(tier_);
    }
    a.release();
    b.release();
    return true;
  }

  // Sets all but the divergence. A range if there has to be a second pass.
  std::optional<kernels::DivergenceRange> end_first_pass(const kernels::PairPartial& partial,
                                                         const ElementSource& a,
                                                         const ElementSource& b,
                                                         const Missing& missing,
                                                         PairResult& result) const {
    result.statistics = partial.finish(a.element(), b.element());
    report_missing(missing.a, "a", result);
    report_missing(missing.b, "b", result);
    if (!options_.divergence || result.statistics->finite == 0) return std::nullopt;
    return kernels::DivergenceRange(*result.statistics);
  }

  void run_job(const std::shared_ptr<PairJob>& job, PairWorker& worker) {
    list_.add(job);
    help(job, worker);
  }

  // Works on the job until no chunk is left.
  void help(const std::shared_ptr<PairJob>& job, PairWorker& worker) {
    while (!list_.ended()) {
      const PairJob::Work work = job->work(worker);
      bytes_done_ += work.nbytes;
      if (work.last) {
        if (const auto second = end_pass(*job)) {
          list_.add(second);
        } else {
          finish(results_[job->pair()]);
        }
        list_.end_job();
      }
      if (work.nbytes == 0) break;
    }
    list_.remove(job);
  }

  // The job of the pass to come; nullptr if there is none.
  std::shared_ptr<PairJob> end_pass(const PairJob& job) {
    PairResult& result = results_[job.pair()];
    if (job.is_second_pass()) {
      // Elements that went missing since the first pass leave a divergence of something else.
      if (job.missing().any()) {
        report_missing(job.missing().a, "a", result);
        report_missing(job.missing().b, "b", result);
      } else {
        result.divergence = job.divergence().finish(tier_);
      }
      return nullptr;
    }
    const auto range = end_first_pass(job.partial(), job.a(), job.b(), job.missing(), result);
    return range ? std::make_shared<PairJob>(job, *range, meter_) : nullptr;
  }

  const std::vector<TensorPair>& pairs_;
  const ComparisonOptions& options_;
  std::vector<PairResult>& results_;
  std::atomic<std::uint64_t>& pairs_done_;
  std::atomic<std::uint64_t>& bytes_done_;
  const kernels::Tier& tier_ = active_tier();
  EngineMeter meter_;
  WorkList<PairJob> list_;
};

}  // namespace

Comparison::Comparison(std::vector<TensorPair> pairs, ComparisonOptions options)
    : pairs_(std::move(pairs)), options_(options), results_(pairs_.size()) {}

Comparison::~Comparison() { stop(); }

void Comparison::run() {
  Pipeline(pairs_, options_, results_, pairs_done_, bytes_done_, stop_).run();
}

void Comparison::stop() {
  stop_ = true;
  background_.join();
}

ComparisonProgress Comparison::progress() const {
  return {pairs_.size(), pairs_done_, bytes_done_};
}

}  // namespace fastdump
