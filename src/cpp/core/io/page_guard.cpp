#include "core/io/page_guard.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <mutex>
#include <utility>

namespace fastdump {
namespace {

const auto page_nbytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));

struct GuardedRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;  // 0: no guard
  std::atomic<bool>* lost = nullptr;
};

// In a library that is loaded late, the first use of a thread's variable may allocate, which a
// signal handler must not do. In this model of access it does not.
#if defined(__linux__)
#define FASTDUMP_INITIAL_EXEC __attribute__((tls_model("initial-exec")))
#else
#define FASTDUMP_INITIAL_EXEC
#endif

// The signal handler reads the ranges in the thread that faulted: no synchronisation is needed, but
// volatile, because the handler interrupts the code that writes them.
FASTDUMP_INITIAL_EXEC thread_local volatile GuardedRange guarded[kMaxPageGuards];

// Whoever sets a handler after ours may pass on to ours what is not meant for it. As nobody can
// tell, ours is set again above it, in the next of these places. Each place has a handler of its
// own, which passes on to the action that was there when it was set: so the chain has no circle,
// and no state that a handler which never returns, but jumps, could leave behind.
constexpr std::size_t kMaxPlaces = 8;
struct Place {
  struct sigaction previous;
  std::atomic<bool> is_spent = false;  // previous was to be called once only
};
Place places[kMaxPlaces];
std::size_t n_places = 0;

// Held while handlers are set, also by a thread that forks: the child could not wait for a thread
// that it has not got.
std::mutex mutex;
[[maybe_unused]] const int fork_handlers =
    ::pthread_atfork([] { mutex.lock(); }, [] { mutex.unlock(); }, [] { mutex.unlock(); });

// Whether the signal is the processor's word on an access to memory that cannot go on, not one that
// somebody sent or the news of a damaged page that nobody has touched yet.
bool is_fault(const siginfo_t* info) {
#if defined(BUS_MCEERR_AO)
  if (info->si_code == BUS_MCEERR_AO) return false;
#endif
  return info->si_code > 0;
}

// The signal ends the process: at once if somebody sent it, else when the access is made again, so
// that a core file shows the access.
void end_by_default(int signal, const siginfo_t* info) {
  ::signal(signal, SIG_DFL);
  if (!is_fault(info)) ::raise(signal);
}

bool takes_info(const struct sigaction& action) { return (action.sa_flags & SA_SIGINFO) != 0; }

bool is_ignored(const struct sigaction& action) {
  return !takes_info(action) && action.sa_handler == SIG_IGN;
}

bool is_default(const struct sigaction& action) {
  return takes_info(action) ? action.sa_sigaction == nullptr : action.sa_handler == SIG_DFL;
}

// Does what the system would do if the previous action were in force.
void pass_on(Place& place, int signal, siginfo_t* info, void* context) {
  const struct sigaction& previous = place.previous;
  if (is_ignored(previous) && !is_fault(info)) return;
  if (is_default(previous) || is_ignored(previous)) return end_by_default(signal, info);
  if ((static_cast<unsigned>(previous.sa_flags) & SA_RESETHAND) != 0 &&
      place.is_spent.exchange(true)) {
    return end_by_default(signal, info);
  }
  // A handler that jumps out sets the mask that it wants, as it would without us.
  sigset_t blocked = previous.sa_mask;
  sigset_t before;
  if ((previous.sa_flags & SA_NODEFER) == 0) sigaddset(&blocked, signal);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
  if (takes_info(previous)) {
    previous.sa_sigaction(signal, info, context);
  } else {
    previous.sa_handler(signal);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// Sanitizers intercept mmap(), and their code is not fit for a signal handler: the system is called
// directly.
bool map_zeros(std::uintptr_t page) {
  auto* address = reinterpret_cast<void*>(page);
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
#if defined(__linux__)
  return ::syscall(SYS_mmap, address, page_nbytes, PROT_READ, kFlags, -1, 0) != -1;
#else
  return ::mmap(address, page_nbytes, PROT_READ, kFlags, -1, 0) != MAP_FAILED;
#endif
}

// Tells every guard of this thread whose range has a part of the page. False if there is none.
bool report_loss(std::uintptr_t page) {
  bool is_guarded = false;
  // Two ranges of one mapping may share a page: each hears of its loss.
  for (const volatile GuardedRange& range : guarded) {
    if (range.end == 0 || page + page_nbytes <= range.begin || page >= range.end) {
      continue;
    }
    range.lost->store(true);
    is_guarded = true;
  }
  return is_guarded;
}

template <std::size_t kPlace>
void on_bus_error(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const std::uintptr_t page = address & ~(page_nbytes - 1);
  // SAFETY: a guarded page lies in a mapping that the guard's owner holds.
  const bool is_ours = is_fault(info) && report_loss(page) && map_zeros(page);
  if (!is_ours) pass_on(places[kPlace], signal, info, context);
}

using Handler = void (*)(int, siginfo_t*, void*);

template <std::size_t... kPlace>
constexpr std::array<Handler, sizeof...(kPlace)> make_handlers(std::index_sequence<kPlace...>) {
  return {on_bus_error<kPlace>...};
}

constexpr auto handlers = make_handlers(std::make_index_sequence<kMaxPlaces>());

bool is_ours(const struct sigaction& action) {
  return takes_info(action) && std::ranges::count(handlers, action.sa_sigaction) != 0;
}

// The place for a handler above this action: that of the handler that was set above it before, or
// the next.
std::size_t place_above(const struct sigaction& action) {
  if (n_places == 0) return 0;
  const struct sigaction& last = places[n_places - 1].previous;
  const bool is_last = takes_info(action) == takes_info(last) &&
                       (takes_info(action) ? action.sa_sigaction == last.sa_sigaction
                                           : action.sa_handler == last.sa_handler);
  return is_last ? n_places - 1 : n_places;
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
  range.begin = reinterpret_cast<std::uintptr_t>(data) & ~(page_nbytes - 1);
  range.end = reinterpret_cast<std::uintptr_t>(data) + nbytes;
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

PageGuard::~PageGuard() {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  guarded[slot_].end = 0;
}

void install_page_guard() {
  struct sigaction current;
  if (::sigaction(SIGBUS, nullptr, &current) != 0 || is_ours(current)) return;
  const std::lock_guard lock(mutex);
  if (::sigaction(SIGBUS, nullptr, &current) != 0 || is_ours(current)) return;
  const std::size_t above = place_above(current);
  if (above == kMaxPlaces) return;
  Place& place = places[above];
  place.previous = current;
  place.is_spent = false;
  n_places = above + 1;
  struct sigaction action = {};
  action.sa_sigaction = handlers[above];
  // Who sends a signal that is ignored interrupts no call of the system.
  const int restart = is_ignored(current) ? SA_RESTART : current.sa_flags & SA_RESTART;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | restart;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGBUS, &action, nullptr);
}

}  // namespace fastdump
