#include "core/arrays/reduce_file.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "core/active_tier.hpp"
#include "core/concurrency/threads.hpp"
#include "core/errors.hpp"
#include "core/io/file.hpp"
#include "core/scan/file_job.hpp"
#include "core/size.hpp"
#include "core/stream/stream_sizes.hpp"
#include "kernels/fp_environment.hpp"

namespace fastdump {
namespace {

constexpr std::chrono::milliseconds kAskEvery{100};

// The threads that reduce one tensor: they take chunks until none is left or one of them stops all.
class Reduction {
 public:
  Reduction(FileJob& job, kernels::Level level, const std::function<bool()>& go_on)
      : job_(job), level_(level), go_on_(go_on) {}

  // Empty if go_on() said no.
  std::optional<TensorRow> run(std::size_t n_threads) {
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
    return std::move(row_);
  }

 private:
  void reduce_chunks() {
    const kernels::DefaultFpEnvironment environment;
    const bool asks = std::this_thread::get_id() == caller_;
    Worker worker(active_tier(), level_);
    auto asked = std::chrono::steady_clock::now();
    while (!stop_.load()) {
      const FileJob::Work work = job_.work(worker);
      if (work.last) row_ = std::move(job_.take_rows().tensors.front());
      if (work.nbytes == 0) return;
      const auto now = std::chrono::steady_clock::now();
      if (!asks || now - asked < kAskEvery) continue;
      asked = now;
      if (!go_on_()) stop_ = true;
    }
  }

  FileJob& job_;
  const kernels::Level level_;
  const std::function<bool()>& go_on_;
  const std::thread::id caller_ = std::this_thread::get_id();
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::exception_ptr failure_;    // the last
  std::optional<TensorRow> row_;  // set by the thread that ends the last chunk
};

}  // namespace

std::optional<kernels::Statistics> reduce_file(const std::string& path, TensorDescription tensor,
                                               kernels::Level level, Engine engine, int threads,
                                               const std::function<bool()>& go_on) {
  const kernels::Element element = tensor.dtype->element;
  const std::uint64_t nbytes = packed_nbytes(tensor.n_elements, tensor.dtype->bits);
  OpenFile open(path);
  if (nbytes > open.size - std::min(tensor.offset, open.size)) {
    throw FormatError("the file ends at byte " + std::to_string(open.size) + ", before the " +
                          std::to_string(nbytes) + " bytes that began at byte " +
                          std::to_string(tensor.offset),
                      open.size);
  }
  Worker worker(active_tier(), level);
  if (tensor.n_elements == 0 || !worker.needs_bytes(element)) {
    if (tensor.n_elements != 0) worker.reduce(element, nullptr, tensor.n_elements, 0);
    return worker.finish(element);
  }
  const std::uint64_t offset = tensor.offset;
  FileRows rows;
  rows.tensors.push_back({std::move(tensor), std::nullopt});
  EngineMeter meter;
  FileJob job(std::move(open.file), open.size, std::move(rows), engine, meter);
  const std::uint64_t chunk_nbytes = stream_sizes().chunk_nbytes;
  const std::uint64_t n_chunks = (nbytes + chunk_nbytes - 1) / chunk_nbytes;
  std::optional<TensorRow> row =
      Reduction(job, level, go_on).run(std::min(static_cast<std::uint64_t>(threads), n_chunks));
  if (!row) return std::nullopt;
  if (row->error != 0) throw SystemError(row->error, path);
  if (row->tensor.status == Status::truncated) throw FormatError(row->tensor.note.text(), offset);
  return row->statistics;
}

}  // namespace fastdump
