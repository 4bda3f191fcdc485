#include "core/tree/find_files.hpp"

#include <cstdint>
#include <memory>
#include <mutex>

#include "core/concurrency/cpus.hpp"
#include "core/concurrency/pipeline.hpp"
#include "core/io/descriptors.hpp"

namespace fastdump {
namespace {

struct Lister {
  ThreadStopwatch stopwatch;
  SkippedFiles skipped;
};

// Nothing that is found becomes a job.
struct NoJob {
  std::uint64_t n_chunks() const { return 0; }
};

class FindRun final : public Pipeline<NoJob, Lister> {
 public:
  FindRun(const std::vector<std::string>& roots, const WalkOptions& options,
          const Parallelism& asked, const std::atomic<bool>& stop, FileTree& tree)
      : Pipeline(asked, threads_with_descriptors(Depth::most(asked), 1), stop),
        tree_(tree),
        walk_(roots, options, stop, n_found_, tree) {}

 private:
  std::unique_ptr<Lister> make_context() override { return std::make_unique<Lister>(); }
  void find_items(Lister& lister) override { add_items(walk_.begin(lister.skipped)); }
  void do_item(std::size_t i, Lister& lister) override {
    const Walk::Item item = walk_.item(i);
    if (item.is_directory) add_items(walk_.list(item.number, lister.skipped));
  }
  Step do_step(NoJob&, Lister&) override { return {}; }
  std::shared_ptr<NoJob> end_job(NoJob&, Lister&) override { return nullptr; }
  void report(Lister&) override {}
  void end_thread(Lister& lister) override {
    const std::lock_guard lock(mutex_);
    add_skipped(tree_.skipped, lister.skipped);
  }

  FileTree& tree_;
  std::atomic<std::uint64_t> n_found_ = 0;
  Walk walk_;
  std::mutex mutex_;
};

}  // namespace

FileTree find_files(const std::vector<std::string>& roots, const WalkOptions& options,
                    const std::atomic<bool>& stop) {
  FileTree tree;
  FindRun(roots, options, default_parallelism(), stop, tree).run();
  return tree;
}

}  // namespace fastdump
