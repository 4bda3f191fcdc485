// The threads of a run: whatever is thrown in one of them, and wherever, comes out of the run,
// which neither hangs nor ends the process; and where no thread can be started, those that are
// there do the work.
#include <sys/mman.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#include "check.hpp"
#include "core/concurrency/background.hpp"
#include "core/concurrency/pipeline.hpp"
#include "core/concurrency/thread_team.hpp"

namespace fastdump {
namespace {

constexpr int kThreads = 4;
constexpr std::size_t kItems = 40;
constexpr std::uint64_t kSteps = 20;

template <class Error, class Function>
bool throws(Function function) {
  try {
    function();
  } catch (const Error&) {
    return true;
  }
  return false;
}

enum class Place {
  nowhere,
  make_context,
  find_items,
  do_item,
  do_step,
  end_job,
  report,
  end_thread
};

struct Job {
  std::atomic<std::uint64_t> n_begun = 0;
  std::atomic<std::uint64_t> n_done = 0;

  std::uint64_t n_chunks() const { return kSteps; }
};

struct Context {
  ThreadStopwatch stopwatch;
};

// Every other item becomes a job. Throws at the n-th visit of a place.
class Run final : public Pipeline<Job, Context> {
 public:
  Run(Place place, int n, const std::atomic<bool>& stop)
      : Pipeline({kThreads, kThreads}, kThreads, stop), place_(place), n_left_(n) {}

  int n_done() const { return n_done_; }

 private:
  void visit(Place place) {
    if (place == place_ && --n_left_ == 0) throw std::runtime_error("failed");
  }

  std::unique_ptr<Context> make_context() override {
    visit(Place::make_context);
    return std::make_unique<Context>();
  }
  void find_items(Context&) override {
    add_items(kItems / 2);
    visit(Place::find_items);
    add_items(kItems);
  }
  // Goes on after a failure of its own, as a scan does with its next file.
  void do_item(std::size_t item, Context& context) override {
    visit(Place::do_item);
    try {
      if (item % 2 == 0) return publish(std::make_shared<Job>(), context);
    } catch (const std::exception&) {
      return;
    }
    ++n_done_;
  }
  Step do_step(Job& job, Context&) override {
    visit(Place::do_step);
    if (job.n_begun++ >= kSteps) return {};
    return {1, ++job.n_done == kSteps};
  }
  std::shared_ptr<Job> end_job(Job&, Context&) override {
    visit(Place::end_job);
    ++n_done_;
    return nullptr;
  }
  void report(Context&) override { visit(Place::report); }
  void end_thread(Context&) override { visit(Place::end_thread); }

  const Place place_;
  std::atomic<int> n_left_;
  std::atomic<int> n_done_ = 0;
};

void test_a_run_does_all() {
  const std::atomic<bool> stop = false;
  Run run(Place::nowhere, 0, stop);
  run.run();
  CHECK_EQ(run.n_done(), static_cast<int>(kItems));
}

void test_what_is_thrown_comes_out() {
  const std::atomic<bool> stop = false;
  for (const Place place : {Place::make_context, Place::find_items, Place::do_item, Place::do_step,
                            Place::end_job, Place::report, Place::end_thread}) {
    for (const int n : {1, 2, 3, 7, 20}) {
      const bool is_in_each_thread = place == Place::make_context || place == Place::end_thread;
      if (n > 1 && (place == Place::find_items || is_in_each_thread)) continue;
      Run run(place, n, stop);
      CHECK(throws<std::runtime_error>([&] { run.run(); }));
    }
  }
}

void test_what_is_thrown_in_a_team_comes_out() {
  std::atomic<int> n = 0;
  const auto fail = [&] {
    ++n;
    throw std::bad_alloc();
  };
  CHECK(throws<std::bad_alloc>([&] { run_in_threads(kThreads, fail); }));
  CHECK(n >= 1);
  run_in_threads(kThreads, [&] { n = 0; });
  CHECK_EQ(n, 0);
}

void test_what_is_thrown_in_the_background_comes_out() {
  Background background;
  background.start([] { throw std::bad_alloc(); });
  CHECK(throws<std::bad_alloc>([&] {
    while (!background.wait_for(std::chrono::milliseconds(100))) {
    }
  }));
}

// Threads need address space for their stacks.
[[maybe_unused]] void test_without_a_thread() {
  rlimit before;
  CHECK_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  const rlimit none = {0, before.rlim_max};
  CHECK_EQ(::setrlimit(RLIMIT_AS, &none), 0);
  void* const page = ::mmap(nullptr, 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page != MAP_FAILED) {  // an emulator, which does not limit what it emulates
    ::munmap(page, 1);
    return;
  }
  int n = 0;
  bool is_done = false;
  Background background;
  background.start([&] { is_done = true; });  // in this thread, before it returns
  const bool is_done_at_once = is_done;
  run_in_threads(kThreads, [&] { ++n; });  // in this thread alone
  CHECK_EQ(::setrlimit(RLIMIT_AS, &before), 0);
  CHECK(is_done_at_once && background.wait_for(std::chrono::milliseconds(0)));
  CHECK_EQ(n, 1);
}

}  // namespace
}  // namespace fastdump

int main() {
  using namespace fastdump;
#if defined(__linux__) && !defined(FASTDUMP_SANITIZED)
  test_without_a_thread();  // first: a stack that was given back serves the next thread
#endif
  test_a_run_does_all();
  test_what_is_thrown_comes_out();
  test_what_is_thrown_in_a_team_comes_out();
  test_what_is_thrown_in_the_background_comes_out();
  return tests::exit_code();
}
