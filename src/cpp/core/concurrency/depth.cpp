#include "core/concurrency/depth.hpp"

#include <algorithm>

namespace fastdump {
namespace {

// What every thread has spent, on average, before it is decided again.
constexpr std::int64_t kWindowNs = 3'000'000;

// Threads that are blocked for a part of their time are what locks cost, not storage.
constexpr double kWorthMore = 1.5;
// A step too far is taken back, but not each time that the storage was fast for a moment.
constexpr double kWorthFewer = 0.5;
constexpr std::size_t kLargestStep = 4;

}  // namespace

std::size_t Depth::most(const Parallelism& asked) {
  const auto threads = static_cast<std::size_t>(asked.threads);
  if (asked.io_depth) return static_cast<std::size_t>(*asked.io_depth);
  return std::max(threads, kMaxMeasuredDepth);
}

Depth::Depth(const Parallelism& asked, std::size_t most)
    : most_(most),
      least_(std::min(static_cast<std::size_t>(asked.threads), most)),
      n_threads_(asked.io_depth ? most : least_) {}

bool Depth::record(const ThreadTime& time) {
  const std::lock_guard lock(mutex_);
  window_.busy_ns += time.busy_ns;
  window_.blocked_ns += time.blocked_ns;
  const std::size_t n = n_threads();
  const std::int64_t all = window_.busy_ns + window_.blocked_ns;
  if (all < kWindowNs * static_cast<std::int64_t>(n)) return false;
  const double busy_share =
      static_cast<double>(std::max<std::int64_t>(window_.busy_ns, 1)) / static_cast<double>(all);
  window_ = {};
  // So many threads keep as many CPUs busy as there may be.
  const double wanted = static_cast<double>(least_) / busy_share;
  const auto wanted_within = static_cast<std::size_t>(
      std::clamp(wanted, static_cast<double>(least_), static_cast<double>(most_)));
  std::size_t next = n;
  if (wanted > kWorthMore * static_cast<double>(n)) {
    next = std::min(wanted_within, kLargestStep * n);
  } else if (wanted < kWorthFewer * static_cast<double>(n)) {
    next = wanted_within;
  }
  n_threads_.store(next, std::memory_order_relaxed);
  return next != n;
}

}  // namespace fastdump
