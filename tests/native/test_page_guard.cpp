// What becomes of SIGBUS: a guarded page reads as zeros; any other fault goes to the handler that
// was there before, as often as there are faults; a signal that somebody sends is no fault.
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>

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

void set_handler(void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action = {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  CHECK_EQ(::sigaction(SIGBUS, &action, nullptr), 0);
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

// As a reporter of crashes does.
void raise_again(int signal, siginfo_t*, void*) { ::raise(signal); }

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
  const auto report = [] { set_handler(raise_again); };
  CHECK_EQ(signal_of_child([&] { with_handler(nothing), touch_a_lost_page(); }), SIGBUS);
  CHECK_EQ(signal_of_child([&] { with_handler(nothing), ::raise(SIGBUS); }), SIGBUS);
  CHECK_EQ(signal_of_child([&] { with_handler(ignore), touch_a_lost_page(); }), SIGBUS);
  CHECK_EQ(signal_of_child([&] { with_handler(ignore), ::raise(SIGBUS); }), 0);
  CHECK_EQ(signal_of_child([&] { with_handler(report), touch_a_lost_page(); }), SIGBUS);
  CHECK_EQ(signal_of_child([&] { with_handler(report), ::raise(SIGBUS); }), SIGBUS);
}

}  // namespace
}  // namespace fastdump

int main() {
  using namespace fastdump;
  // Children end by signals that sanitizers would catch and report.
  test_the_default_action();
  test_guarded_pages();
  test_a_handler_that_recovers_does_so_again();
  test_a_signal_that_is_sent_is_no_fault();
  return tests::exit_code();
}
