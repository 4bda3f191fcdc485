// Bytes of many files, each range of them copied to a file of its own: a list of any length, by
// threads that share it, in bounded memory. What cannot be copied is left to the caller.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/concurrency/background.hpp"
#include "core/concurrency/cpus.hpp"
#include "core/io/file_state.hpp"

namespace fastdump {

// What the new files of many ranges have in common.
struct ExtractKind {
  std::string suffix;  // of the name, behind that of the source
  std::string head;    // the bytes before those of the range
};

struct Extract {
  std::uint64_t offset = 0;  // of the range in the source
  std::uint64_t nbytes = 0;
  std::uint32_t kind = 0;
};

struct ExtractSource {
  std::string path;
  FileState state{};            // when the ranges were found
  std::uint32_t directory = 0;  // of the new files
  // Its extracts follow those of the source before, up to this one.
  std::size_t end = 0;
};

struct ExtractPlan {
  std::vector<ExtractSource> sources;
  std::vector<Extract> extracts;
  std::vector<ExtractKind> kinds;
  std::vector<std::string> directories;  // below the output directory, "" for that itself
};

enum class ExtractOutcome : std::uint8_t {
  left,     // nothing was done, for whatever reason
  written,  // there is a new file, complete
  kept,     // there was one: of the same head and size, and not older than the source
};

struct ExtractOptions {
  int output_directory;    // open, for as long as this lives
  bool overwrite = false;  // no file is kept; what is there already is left, complete or not
  Parallelism parallelism;
};

struct ExtractProgress {
  std::uint64_t files_done = 0;  // sources
  std::uint64_t bytes_done = 0;  // written, heads among them
};

class Extraction {
 public:
  Extraction(ExtractPlan plan, ExtractOptions options);
  ~Extraction();  // stops and waits
  Extraction(const Extraction&) = delete;
  Extraction& operator=(const Extraction&) = delete;

  // Begins in threads of its own; see Background.
  void start() {
    background_.start([this] { run(); });
  }
  // True once everything is done. Rethrows what made it impossible.
  bool wait_for(std::chrono::milliseconds timeout) { return background_.wait_for(timeout); }
  // Ends it soon and waits for it; what was finished stays, and there is nothing else.
  void stop();

  ExtractProgress progress() const { return {files_done_, bytes_done_}; }
  // After it has ended, one for each extract, in the same order.
  const std::vector<ExtractOutcome>& outcomes() const { return outcomes_; }

 private:
  void run();

  const ExtractPlan plan_;
  const ExtractOptions options_;
  std::vector<ExtractOutcome> outcomes_;
  alignas(64) std::atomic<std::uint64_t> files_done_ = 0;
  std::atomic<std::uint64_t> bytes_done_ = 0;
  alignas(64) std::atomic<bool> stop_ = false;
  Background background_;
};

}  // namespace fastdump
