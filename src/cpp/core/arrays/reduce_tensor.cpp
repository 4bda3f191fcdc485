#include "core/arrays/reduce_tensor.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "core/active_tier.hpp"
#include "core/concurrency/thread_team.hpp"
#include "core/stream/stream_sizes.hpp"
#include "kernels/fp_environment.hpp"

namespace fastdump {
namespace {

constexpr std::chrono::milliseconds kAskEvery{100};

// The threads that reduce one tensor: they take chunks until none is left or one of them stops all.
class ReductionThreads {
 public:
  ReductionThreads(Reduction& reduction, kernels::Level level, const std::function<bool()>& go_on)
      : reduction_(reduction), level_(level), go_on_(go_on) {}

  // False if go_on() said no.
  bool run(std::size_t n_threads) {
    run_in_threads(n_threads, [this] {
      try {
        reduce_chunks();
      } catch (...) {
        const std::lock_guard lock(mutex_);
        failure_ = std::current_exception();
        stop_ = true;
      }
    });
    if (failure_) std::rethrow_exception(failure_);
    return is_done_;
  }

 private:
  void reduce_chunks() {
    const kernels::DefaultFpEnvironment environment;
    const bool asks = std::this_thread::get_id() == caller_;
    Reduction::Thread thread(active_tier(), level_);
    auto asked = std::chrono::steady_clock::now();
    while (!stop_.load()) {
      const Step step = reduction_.step(thread);
      if (step.is_last) is_done_ = true;
      if (step.nbytes == 0) return;
      const auto now = std::chrono::steady_clock::now();
      if (!asks || now - asked < kAskEvery) continue;
      asked = now;
      if (!go_on_()) stop_ = true;
    }
  }

  Reduction& reduction_;
  const kernels::Level level_;
  const std::function<bool()>& go_on_;
  const std::thread::id caller_ = std::this_thread::get_id();
  std::atomic<bool> stop_ = false;
  std::atomic<bool> is_done_ = false;
  std::mutex mutex_;
  std::exception_ptr failure_;  // the last
};

}  // namespace

std::optional<Reduction::Result> reduce_tensor(const std::shared_ptr<Source>& source,
                                               ReducedTensor tensor, kernels::Level level,
                                               Engine engine, int threads,
                                               const std::function<bool()>& go_on) {
  TensorReducer without_bytes(active_tier(), level);
  if (tensor.n_elements == 0 || !without_bytes.needs_bytes(tensor.element)) {
    without_bytes.begin(tensor.element);
    without_bytes.add(nullptr, tensor.n_elements, 0);
    return Reduction::Result{without_bytes.finish(), {}};
  }
  const auto n_threads = static_cast<std::uint64_t>(threads);
  const std::uint64_t chunk_nbytes = source->is_memory()
                                         ? array_chunk_nbytes(source->size().nbytes, n_threads)
                                         : stream_sizes().chunk_nbytes;
  EngineMeter meter;
  Reduction reduction(source, {std::move(tensor)}, engine, meter, chunk_nbytes);
  ReductionThreads run(reduction, level, go_on);
  if (!run.run(std::min(n_threads, reduction.n_chunks()))) return std::nullopt;
  return reduction.result(0);
}

}  // namespace fastdump
