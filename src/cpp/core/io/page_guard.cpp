#include "core/io/page_guard.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cassert>
#include <cstdint>
#include <mutex>

namespace fastdump {
namespace {

std::uintptr_t page_bytes() {
  static const auto bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

struct GuardedRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;  // 0: no guard
  std::atomic<bool>* lost = nullptr;
};

// The signal handler reads the ranges in the thread that faulted: no synchronisation is needed, but
// volatile, because the handler interrupts the code that writes them.
thread_local volatile GuardedRange guarded[kMaxPageGuards];

// The handler that was there before ours is at work in this thread.
thread_local volatile sig_atomic_t is_passing_on = 0;

struct sigaction previous_action;
std::uintptr_t page_size_for_handler = 4096;

// Whether the signal is the processor's word on an access to memory, not one that somebody sent.
bool is_fault(const siginfo_t* info) { return info->si_code > 0; }

// The signal ends the process: at once if somebody sent it, else when the access is made again.
void end_by_default(int signal, const siginfo_t* info) {
  ::signal(signal, SIG_DFL);
  if (!is_fault(info)) ::raise(signal);
}

// A handler may recover from a fault, and may do so again and again. One that reports a crash often
// raises the signal anew: that must not come back to it for ever.
void pass_on(int signal, siginfo_t* info, void* context) {
  const bool takes_info = (previous_action.sa_flags & SA_SIGINFO) != 0;
  const auto handler = previous_action.sa_handler;
  const bool is_ignored = !takes_info && handler == SIG_IGN;
  const bool has_handler = takes_info ? previous_action.sa_sigaction != nullptr
                                      : handler != SIG_DFL && handler != SIG_IGN;
  if (is_ignored && !is_fault(info)) return;
  if (!has_handler || is_passing_on != 0) return end_by_default(signal, info);
  is_passing_on = 1;
  if (takes_info) {
    previous_action.sa_sigaction(signal, info, context);
  } else {
    handler(signal);
  }
  is_passing_on = 0;
}

// Sanitizers intercept mmap(), and their code is not fit for a signal handler: the system is called
// directly.
bool map_zeros(std::uintptr_t page) {
  auto* address = reinterpret_cast<void*>(page);
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
#if defined(__linux__)
  return ::syscall(SYS_mmap, address, page_size_for_handler, PROT_READ, kFlags, -1, 0) != -1;
#else
  return ::mmap(address, page_size_for_handler, PROT_READ, kFlags, -1, 0) != MAP_FAILED;
#endif
}

// Tells every guard of this thread whose range has a part of the page. False if there is none.
bool report_loss(std::uintptr_t page) {
  bool is_guarded = false;
  // Two ranges of one mapping may share a page: each hears of its loss.
  for (const volatile GuardedRange& range : guarded) {
    if (range.end == 0 || page + page_size_for_handler <= range.begin || page >= range.end) {
      continue;
    }
    range.lost->store(true);
    is_guarded = true;
  }
  return is_guarded;
}

void on_bus_error(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const std::uintptr_t page = address & ~(page_size_for_handler - 1);
  // SAFETY: a guarded page lies in a mapping that the guard's owner holds.
  const bool is_ours = is_fault(info) && report_loss(page) && map_zeros(page);
  if (!is_ours) pass_on(signal, info, context);
}

std::size_t free_slot() {
  std::size_t slot = 0;
  while (slot < kMaxPageGuards && guarded[slot].end != 0) ++slot;
  assert(slot < kMaxPageGuards);
  return slot;
}

}  // namespace

PageGuard::PageGuard(const std::byte* data, std::size_t nbytes, std::atomic<bool>& lost)
    : slot_(free_slot()) {
  volatile GuardedRange& range = guarded[slot_];
  range.lost = &lost;
  range.begin = reinterpret_cast<std::uintptr_t>(data) & ~(page_bytes() - 1);
  range.end = reinterpret_cast<std::uintptr_t>(data) + nbytes;
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

PageGuard::~PageGuard() {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  guarded[slot_].end = 0;
}

void install_page_guard() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  struct sigaction current;
  if (::sigaction(SIGBUS, nullptr, &current) != 0) return;
  if ((current.sa_flags & SA_SIGINFO) != 0 && current.sa_sigaction == on_bus_error) return;
  previous_action = current;
  page_size_for_handler = page_bytes();
  struct sigaction action = {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGBUS, &action, nullptr);
}

}  // namespace fastdump
