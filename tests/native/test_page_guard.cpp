// What becomes of SIGBUS: a guarded page reads as zeros; any other fault goes to the handler that
// was there before, as often as there are faults; a signal that somebody sends is no fault.
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>

#include "check.hpp"
#include "core/io/mapping.hpp"
#include "core/io/page_guard.hpp"
#include "temporary_directory.hpp"

namespace fastdump {
namespace {

using tests::TemporaryDirectory;

const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

// A mapping of three pages of a file that has lost the last two.
struct CutMapping {
  CutMapping()
      : path(directory.write("file", std::string(3 * page, 'x'))),
        mapping(File(path.c_str()), 3 * page) {
    std::filesystem::resize_file(path, page);
  }
  const volatile std::byte& operator[](std::size_t i) const { return mapping.data()[i]; }

  TemporaryDirectory directory;
  std::string path;
  Mapping mapping;
};

void test_guarded_pages() {
  install_page_guard();
  const CutMapping cut;
  std::atomic<bool> lost = false;
  const PageGuard guard(cut.mapping.data(), cut.mapping.nbytes(), lost);
  CHECK(cut[0] == std::byte{'x'});
  CHECK(!lost);
  CHECK(cut[2 * page] == std::byte{0});
  CHECK(lost);
}

volatile sig_atomic_t n_recovered = 0;
volatile sig_atomic_t n_sent = 0;

// A handler that repairs what failed, as those of some virtual machines do.
void recover(int, siginfo_t* info, void*) {
  if (info->si_code <= 0) {
    n_sent = n_sent + 1;
    return;
  }
  n_recovered = n_recovered + 1;
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr) & ~(page - 1);
  ::mmap(reinterpret_cast<void*>(at), page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
         0);
}

// Returns the action that was there before.
struct sigaction set_handler(void (*handler)(int, siginfo_t*, void*), int flags = 0) {
  struct sigaction action = {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | flags;
  sigemptyset(&action.sa_mask);
  sigaddset(&action.sa_mask, SIGUSR1);
  struct sigaction previous;
  CHECK_EQ(::sigaction(SIGBUS, &action, &previous), 0);
  return previous;
}

void test_a_handler_that_recovers_does_so_again() {
  set_handler(recover);
  install_page_guard();
  for (int i = 1; i <= 3; ++i) {
    const CutMapping cut;
    CHECK(cut[2 * page] == std::byte{0});
    CHECK_EQ(n_recovered, i);
  }
  // The guard's own pages are none of its business.
  const CutMapping cut;
  std::atomic<bool> lost = false;
  const PageGuard guard(cut.mapping.data(), cut.mapping.nbytes(), lost);
  CHECK(cut[page] == std::byte{0});
  CHECK(lost);
  CHECK_EQ(n_recovered, 3);
}

void test_a_signal_that_is_sent_is_no_fault() {
  for (int i = 1; i <= 2; ++i) {
    ::raise(SIGBUS);
    CHECK_EQ(n_sent, i);
  }
}

sigjmp_buf before_fault;
volatile sig_atomic_t n_jumps = 0;

// A handler that never returns, as those of other virtual machines.
void jump(int, siginfo_t*, void*) {
  n_jumps = n_jumps + 1;
  ::siglongjmp(before_fault, 1);
}

bool is_blocked(int signal) {
  sigset_t blocked;
  CHECK_EQ(::pthread_sigmask(SIG_BLOCK, nullptr, &blocked), 0);
  return sigismember(&blocked, signal) == 1;
}

void test_a_handler_that_jumps_out_does_so_again() {
  set_handler(jump);
  install_page_guard();
  const CutMapping cut;
  for (int i = 1; i <= 3; ++i) {
    if (sigsetjmp(before_fault, 1) == 0) {
      CHECK(cut[2 * page] != std::byte{0});  // jumps before it knows
      CHECK(false);
    }
    CHECK_EQ(n_jumps, i);
    CHECK(!is_blocked(SIGBUS));
  }
}

volatile sig_atomic_t were_blocked = 0;

void note_blocked(int signal, siginfo_t* info, void* context) {
  were_blocked = (is_blocked(SIGBUS) ? 1 : 0) + (is_blocked(SIGUSR1) ? 2 : 0);
  recover(signal, info, context);
}

void test_a_handler_finds_blocked_what_it_asked_for() {
  for (const auto& [flags, blocked] : {std::pair(0, 3), std::pair(SA_NODEFER, 2)}) {
    set_handler(note_blocked, flags);
    install_page_guard();
    const CutMapping cut;
    CHECK(cut[page] == std::byte{0});
    CHECK_EQ(were_blocked, blocked);
    CHECK(!is_blocked(SIGUSR1));
  }
}

struct sigaction action_below;
volatile sig_atomic_t n_passed_on = 0;

// A handler that was set after ours and passes on what is not for it.
void pass_on(int signal, siginfo_t* info, void* context) {
  n_passed_on = n_passed_on + 1;
  action_below.sa_sigaction(signal, info, context);
}

void test_a_later_handler_that_passes_on() {
  set_handler(recover);
  install_page_guard();
  action_below = set_handler(pass_on);
  const int n_before = n_recovered;
  for (int i = 1; i <= 3; ++i) {
    // The first time without ours above it.
    if (i > 1) install_page_guard();
    {
      const CutMapping cut;
      CHECK(cut[page] == std::byte{0});
    }
    CHECK_EQ(n_passed_on, i);
    CHECK_EQ(n_recovered, n_before + i);
  }
  const CutMapping cut;
  std::atomic<bool> lost = false;
  const PageGuard guard(cut.mapping.data(), cut.mapping.nbytes(), lost);
  CHECK(cut[page] == std::byte{0});
  CHECK(lost);
  CHECK_EQ(n_passed_on, 3);
}

// However often one handler takes the place of ours, ours comes back.
void test_a_handler_that_is_set_again_and_again() {
  for (int i = 0; i < 20; ++i) {
    set_handler(recover);
    install_page_guard();
    const CutMapping cut;
    std::atomic<bool> lost = false;
    const PageGuard guard(cut.mapping.data(), cut.mapping.nbytes(), lost);
    CHECK(cut[page] == std::byte{0});
    CHECK(lost);
  }
}

// The signal that ends a child which does this; 0 if it does not end by one.
template <class Function>
int signal_of_child(Function function) {
  const pid_t child = ::fork();
  if (child == 0) {
    function();
    ::_exit(0);
  }
  int status = 0;
  CHECK_EQ(::waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

// As reporters of crashes do.
void raise_again(int signal, siginfo_t*, void*) { ::raise(signal); }
void reset_and_raise(int signal, siginfo_t*, void*) {
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

// A child has none of the other threads, of which one may have been setting the handler.
void test_forks_while_handlers_are_set() {
  const auto set = [] {
    ::signal(SIGBUS, SIG_DFL);
    install_page_guard();
  };
  std::atomic<bool> stop = false;
  std::thread other([&] {
    while (!stop) set();
  });
  for (int i = 0; i < 200; ++i) {
    CHECK_EQ(signal_of_child([&] {
               ::alarm(60);
               set();
             }),
             0);
  }
  stop = true;
  other.join();
}

void test_the_default_action() {
  const auto touch_a_lost_page = [] {
    const CutMapping cut;
    if (cut[2 * page] == std::byte{1}) ::_exit(1);
  };
  const auto with_handler = [](auto set) {
    ::signal(SIGBUS, SIG_DFL);
    set();
    install_page_guard();
  };
  const auto nothing = [] {};
  const auto ignore = [] { ::signal(SIGBUS, SIG_IGN); };
  const auto report_once = [] { set_handler(raise_again, SA_RESETHAND); };
  const auto report = [] { set_handler(reset_and_raise); };
  CHECK_EQ(signal_of_child([&] { with_handler(nothing), touch_a_lost_page(); }), SIGBUS);
  CHECK_EQ(signal_of_child([&] { with_handler(nothing), ::raise(SIGBUS); }), SIGBUS);
  CHECK_EQ(signal_of_child([&] { with_handler(ignore), touch_a_lost_page(); }), SIGBUS);
  CHECK_EQ(signal_of_child([&] { with_handler(ignore), ::raise(SIGBUS); }), 0);
  CHECK_EQ(signal_of_child([&] { with_handler(report_once), touch_a_lost_page(); }), SIGBUS);
  CHECK_EQ(signal_of_child([&] { with_handler(report_once), ::raise(SIGBUS); }), SIGBUS);
  CHECK_EQ(signal_of_child([&] { with_handler(report), touch_a_lost_page(); }), SIGBUS);
  CHECK_EQ(signal_of_child([&] { with_handler(report), ::raise(SIGBUS); }), SIGBUS);
}

}  // namespace
}  // namespace fastdump

int main() {
  using namespace fastdump;
  // Children end by signals that sanitizers would catch and report.
  test_the_default_action();
  test_forks_while_handlers_are_set();
  test_guarded_pages();
  test_a_handler_that_recovers_does_so_again();
  test_a_signal_that_is_sent_is_no_fault();
  test_a_handler_that_jumps_out_does_so_again();
  test_a_handler_finds_blocked_what_it_asked_for();
  test_a_later_handler_that_passes_on();
  test_a_handler_that_is_set_again_and_again();
  return tests::exit_code();
}
