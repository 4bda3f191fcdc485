// A scan: files are located, streamed and reduced. One huge file and a million small ones both keep
// every thread busy; memory is bounded by the number of threads.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/concurrency/background.hpp"
#include "core/concurrency/cpus.hpp"
#include "core/scan/found_rows.hpp"
#include "core/stream/engine.hpp"
#include "core/tree/selection.hpp"
#include "core/tree/walk.hpp"
#include "kernels/block.hpp"

namespace fastdump {

struct ScanOptions {
  std::optional<kernels::Level> level;  // empty: headers only, no payload is read
  bool digests = false;                 // with headers only: of tensors in files of up to 16 KiB
  bool logical = false;                 // the padding of private formats is left out
  Parallelism parallelism;
  Engine engine = Engine::automatic;
  WalkOptions walk;
  Selection selection;
};

struct ScanProgress {
  bool walking = true;  // files_found is not final
  std::uint64_t files_found = 0;
  std::uint64_t files_done = 0;
  std::uint64_t bytes_done = 0;  // of payload and header
  std::uint64_t tensors = 0;
  std::uint64_t bad = 0;  // tensors and files with NaN, Inf or a status that is not ok
};

struct ScanCounters {
  std::atomic<bool> walking = true;
  std::atomic<std::uint64_t> files_found = 0;
  std::atomic<std::uint64_t> files_done = 0;
  std::atomic<std::uint64_t> bytes_done = 0;
  std::atomic<std::uint64_t> tensors = 0;
  std::atomic<std::uint64_t> bad = 0;
};

class Scan {
 public:
  Scan(std::vector<std::string> roots, ScanOptions options);
  // Of files that were found before.
  Scan(FileTree tree, ScanOptions options);
  ~Scan();  // stops and waits
  Scan(const Scan&) = delete;
  Scan& operator=(const Scan&) = delete;

  // Begins in threads of its own; see Background.
  void start() {
    background_.start([this] { run(); });
  }
  // True once everything is done. Rethrows what made the scan impossible.
  bool wait_for(std::chrono::milliseconds timeout) { return background_.wait_for(timeout); }
  // Ends the scan soon and waits for it; what was finished stays.
  void stop();

  ScanProgress progress() const;
  // After the scan has ended:
  const FileTree& tree() const { return tree_; }
  // Of each thread; once.
  std::vector<FoundRows> take_rows();
  RowContent content() const { return {options_.level, options_.digests}; }
  int threads() const { return options_.parallelism.threads; }

 private:
  void run();

  const std::vector<std::string> roots_;
  const ScanOptions options_;
  FileTree tree_;
  std::vector<FoundRows> rows_;
  bool rows_are_taken_ = false;
  // Every thread asks whether it is to stop all the time: what all of them write lies elsewhere.
  alignas(64) ScanCounters counters_;
  alignas(64) std::atomic<bool> stop_ = false;
  Background background_;
};

}  // namespace fastdump
