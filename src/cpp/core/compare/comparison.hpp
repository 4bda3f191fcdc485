// Pairs of tensors in files, compared: a list of any length, by threads that share it, in bounded
// memory. What it finds does not depend on their number, on the engine or on how files are cut.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "core/compare/tensor_pair.hpp"
#include "core/concurrency/background.hpp"
#include "core/concurrency/cpus.hpp"
#include "core/stream/engine.hpp"
#include "kernels/pair_block.hpp"

namespace fastdump {

struct ComparisonOptions {
  kernels::Tolerance tolerance = {};
  bool divergence = false;  // a second pass
  Parallelism parallelism;
  Engine engine = Engine::automatic;
};

struct ComparisonProgress {
  std::uint64_t pairs = 0;  // of tensors
  std::uint64_t pairs_done = 0;
  std::uint64_t bytes_done = 0;  // of both sides, of either pass
};

class Comparison {
 public:
  Comparison(std::vector<TensorPair> pairs, ComparisonOptions options);
  ~Comparison();  // stops and waits
  Comparison(const Comparison&) = delete;
  Comparison& operator=(const Comparison&) = delete;

  // Begins in threads of its own; see Background.
  void start() {
    background_.start([this] { run(); });
  }
  // True once everything is done. Rethrows what made the comparison impossible.
  bool wait_for(std::chrono::milliseconds timeout) { return background_.wait_for(timeout); }
  // Ends it soon and waits for it; what was finished stays.
  void stop();

  ComparisonProgress progress() const;
  // After it has ended, one for each pair, in the same order.
  const std::vector<PairResult>& results() const { return results_; }

 private:
  void run();

  const std::vector<TensorPair> pairs_;
  const ComparisonOptions options_;
  std::vector<PairResult> results_;
  // Every thread asks whether it is to stop all the time: what all of them write lies elsewhere.
  alignas(64) std::atomic<std::uint64_t> pairs_done_ = 0;
  std::atomic<std::uint64_t> bytes_done_ = 0;
  alignas(64) std::atomic<bool> stop_ = false;
  Background background_;
};

}  // namespace fastdump
