#include "core/compare/comparison.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/active_tier.hpp"
#include "core/compare/pair_pass.hpp"
#include "core/concurrency/pipeline.hpp"
#include "core/io/descriptors.hpp"
#include "core/io/last_directory.hpp"
#include "core/layout/logical_elements.hpp"
#include "core/stream/stream_sizes.hpp"
#include "kernels/fp_environment.hpp"

namespace fastdump {
namespace {

void report_missing(const Shortage& side, const char* name, PairResult& result) {
  if (side.n == 0) return;
  if (side.error != 0) {
    result.status = Status::unreadable;
  } else if (result.status != Status::unreadable) {
    result.status = Status::truncated;
  }
  const std::string why = side.error != 0 ? std::strerror(side.error) : "the file ends early";
  result.note.add(std::string(name) + ": " + why + ": " + std::to_string(side.n) +
                  " elements are missing");
}

Shortages<2> sum_of(Shortages<2> missing, const Shortages<2>& more) {
  for (std::size_t side = 0; side < missing.size(); ++side) missing[side].add(more[side]);
  return missing;
}

void report_missing(const Shortages<2>& missing, PairResult& result) {
  report_missing(missing[0], "a", result);
  report_missing(missing[1], "b", result);
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
  auto elements = make_logical_elements(*place.layout, place.dtype->bits, why);
  if (elements) {
    gathered = std::make_shared<const LogicalElements>(*std::move(elements));
    return true;
  }
  result.status = Status::unsupported;
  result.note.add(std::string(name) + ": " + why);
  return false;
}

// A file that could be opened, or the errno of what kept it from being.
struct OpenedSource {
  std::shared_ptr<Source> source;
  int error = 0;
};

// A file of no more is read whole, once for all of its tensors: that takes one read and one look at
// its state, not both for each.
constexpr std::size_t kSmallFileNbytes = std::size_t{64} << 10;

bool may_be_of_small_file(const TensorPlace& place) {
  const std::uint64_t n_bits = kSmallFileNbytes * 8;
  return place.offset < kSmallFileNbytes &&
         place.n_elements <= n_bits / static_cast<std::uint64_t>(place.dtype->bits);
}

// nullptr if it is larger, not in that state, or cannot be read.
std::shared_ptr<Source> read_small_file(const File& file, FileState state) {
  auto bytes = std::make_unique_for_overwrite<std::byte[]>(kSmallFileNbytes);
  const ReadResult read = read_some_at(file, {bytes.get(), kSmallFileNbytes}, 0);
  FileStatus status;
  if (read.error != 0 || file.status(status) != 0) return nullptr;
  if (read.nbytes != status.nbytes || state_of(status) != state) return nullptr;
  return std::make_shared<Source>(std::move(bytes), read.nbytes);
}

File open_file(const std::string& path, LastDirectory& last) {
  const std::size_t end = path.rfind('/');
  if (end != std::string::npos) {
    const auto directory = std::string_view(path).substr(0, std::max<std::size_t>(end, 1));
    if (auto opened = last.open(directory, path.c_str() + end + 1)) return *std::move(opened);
  }
  return File(path.c_str());
}

OpenedSource open_source(const TensorPlace& place, LastDirectory& last) {
  File file = open_file(place.path, last);
  if (file.error() != 0) return {nullptr, file.error()};
  if (may_be_of_small_file(place)) {
    if (auto small = read_small_file(file, place.state)) return {std::move(small), 0};
  }
  return {std::make_shared<Source>(std::move(file), place.state), 0};
}

void report_problem(int problem, const char* name, PairResult& result) {
  if (problem == 0) return;
  const bool is_changed = problem == kFileChanged;
  if (result.status != Status::changed) {
    result.status = is_changed ? Status::changed : Status::unreadable;
  }
  const std::string why = is_changed ? std::string(kChangedSince) : std::strerror(problem);
  result.note.add(std::string(name) + ": " + why);
}

// False if a file did not stay as it was when its header was read: nothing that was found holds.
bool is_unchanged(const Sources<2>& sources, PairResult& result) {
  const int a = sources[0]->check_state();
  const int b = sources[1] == sources[0] ? a : sources[1]->check_state();
  if (a == 0 && b == 0) return true;
  result = {};
  report_problem(a, "a", result);
  report_problem(b, "b", result);
  return false;
}

// Pairs beside each other often come from the same two files, or share one of them: each is opened
// once for all of them.
class LastSources {
 public:
  OpenedSource open(const TensorPlace& place) {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      const Slot& slot = slots_[i];
      if (slot.is_open && place.path == slot.path && place.state == slot.state) {
        last_ = i;
        return slot.opened;
      }
    }
    // The other one may be the first file of the same pair.
    last_ = 1 - last_;
    Slot& slot = slots_[last_];
    slot.is_open = false;
    slot.opened = open_source(place, slot.directory);
    slot.path = place.path;
    slot.state = place.state;
    slot.is_open = true;
    return slot.opened;
  }

 private:
  struct Slot {
    bool is_open = false;
    std::string path;
    FileState state{};
    OpenedSource opened;
    LastDirectory directory;
  };

  std::array<Slot, 2> slots_;
  std::size_t last_ = 0;
};

// The files of a pair, and those that were opened last with their directories.
constexpr std::size_t kDescriptorsOfThread = 6;

// One side of a pair as it is streamed. False if that is impossible, and the result says why.
bool find_side(const TensorPlace& place, const char* name, const OpenedSource& opened,
               PairResult& result, std::shared_ptr<Source>& source, Strip& strip) {
  if (opened.error != 0) {
    result.status = Status::unreadable;
    result.note.add(std::string(name) + ": " + std::strerror(opened.error));
    return false;
  }
  source = opened.source;
  strip.offset = place.offset;
  strip.bits = place.dtype->bits;
  return find_gathered(place, name, result, strip.gathered);
}

// A pass over a pair that is too large for one piece.
struct PairJob {
  std::size_t pair;
  Shortages<2> missing;  // that was known before the pass
  PairPass pass;

  std::uint64_t n_chunks() const { return pass.n_chunks(); }
};

// What one thread keeps between pairs.
struct ComparisonThread {
  ComparisonThread(const kernels::Tier& tier, const kernels::Tolerance& tolerance)
      : pass(tier, tolerance) {}

  ThreadStopwatch stopwatch;
  const kernels::DefaultFpEnvironment environment;
  PairPass::Thread pass;
  LastSources last;
};

// The items are pairs, the jobs are passes over large ones.
class ComparisonRun final : public Pipeline<PairJob, ComparisonThread> {
 public:
  ComparisonRun(const std::vector<TensorPair>& pairs, const ComparisonOptions& options,
                std::vector<PairResult>& results, std::atomic<std::uint64_t>& pairs_done,
                std::atomic<std::uint64_t>& bytes_done, const std::atomic<bool>& stop)
      : Pipeline(options.parallelism,
                 threads_with_descriptors(Depth::most(options.parallelism), kDescriptorsOfThread),
                 stop),
        pairs_(pairs),
        options_(options),
        results_(results),
        pairs_done_(pairs_done),
        bytes_done_(bytes_done) {}

 private:
  std::unique_ptr<ComparisonThread> make_context() override {
    return std::make_unique<ComparisonThread>(tier_, options_.tolerance);
  }

  void find_items(ComparisonThread&) override { add_items(pairs_.size()); }

  void do_item(std::size_t i, ComparisonThread& thread) override {
    PairResult& result = results_[i];
    try {
      if (!compare(i, thread)) return;
    } catch (const std::exception& error) {
      set_failed(error, result);
    }
    finish(result);
  }

  // Whatever is thrown for a pair becomes its result.
  static void set_failed(const std::exception& error, PairResult& result) {
    result = {};
    result.status = Status::unreadable;
    result.note.add(error.what());
  }

  void finish(PairResult& result) {
    result.is_done = true;
    ++pairs_done_;
  }

  // False if the pair has become a job, which will finish it.
  bool compare(std::size_t i, ComparisonThread& thread) {
    const TensorPair& pair = pairs_[i];
    PairResult& result = results_[i];
    if (!is_comparable(pair, result)) return true;
    const OpenedSource opened_a = thread.last.open(pair.a);
    const OpenedSource opened_b = thread.last.open(pair.b);
    PairOfStrips strips = {pair.a.dtype->element, pair.b.dtype->element, {}, {}};
    auto& [source_a, source_b] = strips.sources;
    auto& [strip_a, strip_b] = strips.track.sides;
    const bool is_ready_a = find_side(pair.a, "a", opened_a, result, source_a, strip_a);
    const bool is_ready_b = find_side(pair.b, "b", opened_b, result, source_b, strip_b);
    if (!is_ready_a || !is_ready_b) return true;
    strips.track.n_elements = pair.a.n_compared();
    if (strips.track.n_elements <= piece_elements(strips.track)) {
      compare_one_piece(strips, {}, thread.pass, result);
      return true;
    }
    // No more is streamed than there is, however much a header claims.
    const Shortages<2> missing = find_missing(strips);
    strips.track.n_elements -= std::max(missing[0].n, missing[1].n);
    if (strips.track.n_elements <= piece_elements(strips.track)) {
      compare_one_piece(strips, missing, thread.pass, result);
      return true;
    }
    auto job = make_job(i, missing, std::move(strips), std::nullopt);
    if (job->n_chunks() > 1) {
      publish(job, thread);
    } else {
      // A pair of one chunk is not worth the help of other threads.
      while (job != nullptr && !has_ended()) {
        do_step(*job, thread);
        job = end_job(*job, thread);
      }
    }
    return false;
  }

  static Shortages<2> find_missing(const PairOfStrips& strips) {
    Shortages<2> missing;
    for (std::size_t side = 0; side < missing.size(); ++side) {
      missing[side] =
          shortage_of(*strips.sources[side], strips.track.sides[side], strips.track.n_elements);
    }
    return missing;
  }

  // Both passes over a pair that is read once.
  void compare_one_piece(const PairOfStrips& strips, const Shortages<2>& known_missing,
                         PairPass::Thread& thread, PairResult& result) {
    const auto n = static_cast<std::size_t>(strips.track.n_elements);
    const LoadedPiece<2> loaded = read_piece(strips.sources, strips.track, 0, n, thread.buffers);
    if (!is_unchanged(strips.sources, result)) return;
    thread.reducer.begin(strips.a, strips.b, std::nullopt);
    thread.reducer.visit(loaded.piece);
    bytes_done_ += strips.track.nbytes(loaded.piece.n);
    const auto range = end_first_pass(strips, thread.reducer.partial(), result);
    report_missing(sum_of(known_missing, loaded.missing), result);
    if (range) {
      thread.reducer.begin(strips.a, strips.b, range);
      thread.reducer.visit(loaded.piece);
      result.divergence = thread.reducer.divergence().finish(tier_);
    }
    for (std::size_t side = 0; side < 2; ++side) {
      drop_gathered(*strips.sources[side], strips.track.sides[side]);
    }
  }

  // Sets all but the divergence. A range if there has to be a second pass.
  std::optional<kernels::DivergenceRange> end_first_pass(const PairOfStrips& strips,
                                                         const kernels::PairPartial& partial,
                                                         PairResult& result) const {
    result.statistics = partial.finish(strips.a, strips.b);
    if (!options_.divergence || result.statistics->finite == 0) return std::nullopt;
    return kernels::DivergenceRange(*result.statistics);
  }

  std::shared_ptr<PairJob> make_job(std::size_t pair, const Shortages<2>& missing,
                                    PairOfStrips strips,
                                    const std::optional<kernels::DivergenceRange>& range) {
    return std::shared_ptr<PairJob>(new PairJob{
        pair, missing,
        PairPass(std::move(strips), range, options_.engine, meter_, stream_sizes().chunk_nbytes)});
  }

  Step do_step(PairJob& job, ComparisonThread& thread) override {
    meter_.set_reads_only(waits_for_storage());
    const Step step = job.pass.step(thread.pass);
    // The kernel reads ahead of a mapping: more threads would do no more than have more in memory.
    if (options_.engine == Engine::mmap) thread.stopwatch.restart();
    bytes_done_ += step.nbytes;
    return step;
  }

  std::shared_ptr<PairJob> end_job(PairJob& job, ComparisonThread&) override {
    PairResult& result = results_[job.pair];
    std::shared_ptr<PairJob> second;
    try {
      second = end_pass(job, result);
    } catch (const std::exception& error) {
      set_failed(error, result);
    }
    if (second == nullptr) finish(result);
    return second;
  }

  // The second pass follows the first, if there has to be one.
  std::shared_ptr<PairJob> end_pass(const PairJob& job, PairResult& result) {
    const PairPass& pass = job.pass;
    if (!is_unchanged(pass.pair().sources, result)) return nullptr;
    report_missing(sum_of(job.missing, pass.missing()), result);
    if (!pass.is_second()) {
      const auto range = end_first_pass(pass.pair(), pass.partial(), result);
      if (range) return make_job(job.pair, {}, pass.pair(), range);
    } else if (pass.missing()[0].n == 0 && pass.missing()[1].n == 0) {
      // Elements that could not be read this time would leave a divergence of something else.
      result.divergence = pass.divergence().finish(tier_);
    }
    return nullptr;
  }

  void report(ComparisonThread&) override {}
  void end_thread(ComparisonThread&) override {}

  const std::vector<TensorPair>& pairs_;
  const ComparisonOptions& options_;
  std::vector<PairResult>& results_;
  std::atomic<std::uint64_t>& pairs_done_;
  std::atomic<std::uint64_t>& bytes_done_;
  const kernels::Tier& tier_ = active_tier();
  EngineMeter meter_;
};

}  // namespace

Comparison::Comparison(std::vector<TensorPair> pairs, ComparisonOptions options)
    : pairs_(std::move(pairs)), options_(options), results_(pairs_.size()) {}

Comparison::~Comparison() { stop(); }

void Comparison::run() {
  stream_sizes();  // a setting that is wrong is told before anything is read
  ComparisonRun(pairs_, options_, results_, pairs_done_, bytes_done_, stop_).run();
}

void Comparison::stop() {
  stop_ = true;
  background_.join();
}

ComparisonProgress Comparison::progress() const {
  return {pairs_.size(), pairs_done_, bytes_done_};
}

}  // namespace fastdump
