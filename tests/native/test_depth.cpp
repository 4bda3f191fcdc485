// How many threads are at work: as many as CPUs may be busy, and more while these are blocked.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "check.hpp"
#include "core/concurrency/depth.hpp"
#include "core/concurrency/pipeline.hpp"
#include "core/concurrency/thread_team.hpp"

namespace fastdump {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

// Enough to decide by, whatever the number of threads.
ThreadTime seconds(double busy, double blocked) {
  constexpr double kScale = 1000.0 * static_cast<double>(kSecondNs);
  return {static_cast<std::int64_t>(busy * kScale), static_cast<std::int64_t>(blocked * kScale)};
}

void test_it_starts_with_the_cpus() {
  for (const int threads : {1, 2, 64, 192}) {
    const Parallelism asked = {threads, std::nullopt};
    const std::size_t most = Depth::most(asked);
    CHECK_EQ(most, static_cast<std::size_t>(threads < 64 ? 64 : threads));
    Depth depth(asked, most);
    CHECK_EQ(depth.n_threads(), static_cast<std::size_t>(threads));
    CHECK(!depth.record(seconds(1, 0)));
    CHECK_EQ(depth.n_threads(), static_cast<std::size_t>(threads));
  }
}

void test_it_grows_while_threads_are_blocked() {
  Depth depth({2, std::nullopt}, 64);
  CHECK(depth.record(seconds(0.001, 1)));
  CHECK_EQ(depth.n_threads(), 8U);
  CHECK(depth.record(seconds(0.001, 1)));
  CHECK_EQ(depth.n_threads(), 32U);
  CHECK(depth.record(seconds(0, 1)));
  CHECK_EQ(depth.n_threads(), 64U);
  CHECK(!depth.record(seconds(0, 1)));
  CHECK_EQ(depth.n_threads(), 64U);
}

void test_it_grows_as_far_as_cpus_get_busy() {
  Depth depth({2, std::nullopt}, 64);
  // A thread that is busy for a quarter of its time wants three others beside it.
  CHECK(depth.record(seconds(1, 3)));
  CHECK_EQ(depth.n_threads(), 8U);
  CHECK(!depth.record(seconds(1, 3)));
  // Locks are no storage.
  Depth locked({2, std::nullopt}, 64);
  CHECK(!locked.record(seconds(3, 1)));
  CHECK_EQ(locked.n_threads(), 2U);
}

void test_it_shrinks_when_threads_are_busy() {
  Depth depth({2, std::nullopt}, 64);
  while (depth.record(seconds(0, 1))) {
  }
  CHECK_EQ(depth.n_threads(), 64U);
  CHECK(!depth.record(seconds(1, 20)));
  CHECK(depth.record(seconds(1, 4)));
  CHECK_EQ(depth.n_threads(), 10U);
  CHECK(depth.record(seconds(1, 0)));
  CHECK_EQ(depth.n_threads(), 2U);
}

void test_what_is_asked_for() {
  const Parallelism asked = {4, 16};
  CHECK_EQ(Depth::most(asked), 16U);
  Depth depth(asked, 16);
  CHECK_EQ(depth.n_threads(), 16U);
  CHECK(!depth.record(seconds(0, 1)));
  CHECK(depth.record(seconds(1, 0)));
  CHECK_EQ(depth.n_threads(), 4U);
  // Fewer reads than CPUs leave CPUs idle.
  Depth shallow({4, 2}, 2);
  CHECK_EQ(shallow.n_threads(), 2U);
  CHECK(!shallow.record(seconds(0, 1)));
}

void test_a_moment_decides_nothing() {
  Depth depth({2, std::nullopt}, 64);
  CHECK(!depth.record({0, 1}));
  CHECK_EQ(depth.n_threads(), 2U);
}

void test_a_thread_may_leave() {
  std::atomic<int> n_left = 0;
  std::atomic<int> n_started = 0;
  ThreadTeam* members = nullptr;
  ThreadTeam team(4, [&] {
    ++n_started;
    if (n_started > 1 && members->leaves(2)) ++n_left;
  });
  members = &team;
  CHECK(!team.leaves(1));
  team.run();
  CHECK_EQ(n_left.load(), 0);
  for (int round = 0; round < 100; ++round) team.grow_to(4);
  CHECK(team.n_threads() <= 4U);
  CHECK(team.n_threads() >= 2U);
}

struct NoJob {
  std::uint64_t n_chunks() const { return 0; }
};

struct Waiter {
  ThreadStopwatch stopwatch;
};

// Items that are answered when enough others are waiting, too, or after some time.
class FarRun final : public Pipeline<NoJob, Waiter> {
 public:
  FarRun(const Parallelism& asked, std::size_t n_items, std::size_t n_wanted,
         const std::atomic<bool>& stop)
      : Pipeline(asked, Depth::most(asked), stop), n_items_(n_items), n_wanted_(n_wanted) {}

  std::size_t n_at_a_time() const { return n_at_a_time_; }

 private:
  std::unique_ptr<Waiter> make_context() override { return std::make_unique<Waiter>(); }
  void find_items(Waiter&) override { add_items(n_items_); }
  void do_item(std::size_t, Waiter&) override {
    std::unique_lock lock(mutex_);
    ++n_waiting_;
    n_at_a_time_ = std::max(n_at_a_time_, n_waiting_);
    if (n_at_a_time_ >= n_wanted_) changed_.notify_all();
    changed_.wait_for(lock, std::chrono::milliseconds(5),
                      [this] { return n_at_a_time_ >= n_wanted_; });
    --n_waiting_;
  }
  Step do_step(NoJob&, Waiter&) override { return {}; }
  std::shared_ptr<NoJob> end_job(NoJob&, Waiter&) override { return nullptr; }
  void report(Waiter&) override {}
  void end_thread(Waiter&) override {}

  const std::size_t n_items_;
  const std::size_t n_wanted_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t n_waiting_ = 0;
  std::size_t n_at_a_time_ = 0;
};

void test_storage_that_is_far_gets_more_requests() {
  const std::atomic<bool> stop = false;
  FarRun run({1, std::nullopt}, 4000, 16, stop);
  run.run();
  CHECK(run.n_at_a_time() >= 16);
  FarRun limited({1, 3}, 100, 16, stop);
  limited.run();
  CHECK(limited.n_at_a_time() <= 3);
}

}  // namespace
}  // namespace fastdump

int main() {
  using namespace fastdump;
  test_it_starts_with_the_cpus();
  test_it_grows_while_threads_are_blocked();
  test_it_grows_as_far_as_cpus_get_busy();
  test_it_shrinks_when_threads_are_busy();
  test_what_is_asked_for();
  test_a_moment_decides_nothing();
  test_a_thread_may_leave();
  test_storage_that_is_far_gets_more_requests();
  return tests::exit_code();
}
