#include "core/io/mapping.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cassert>
#include <cstdlib>
#include <mutex>

#include "core/errors.hpp"

namespace fastdump {
namespace {

std::uintptr_t page_bytes() {
  static const auto bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

// A fault maps the pages around it too, up to 64 KiB on Linux. Dropping a range rounded outwards to
// that takes them along; a neighbour that still needs one faults again.
constexpr std::uint64_t kDropUnit = std::uint64_t{64} << 10;

struct GuardedRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;  // 0: no guard
  std::atomic<bool>* lost = nullptr;
};

// Read by the signal handler in the thread that faulted, so no synchronisation; volatile because
// the handler interrupts the code that writes it.
thread_local volatile GuardedRange guarded[kMaxPageGuards];

struct sigaction previous_action;
std::uintptr_t page_size_for_handler = 4096;

// The process is about to end: once through the handler that was there, which may report and return
// or raise again, then the default action. The access faults again as soon as the handler returns.
void pass_on(int signal, siginfo_t* info, void* context) {
  static volatile sig_atomic_t passed = 0;
  if (passed != 0) {
    ::signal(signal, SIG_DFL);
    return;
  }
  passed = 1;
  if ((previous_action.sa_flags & SA_SIGINFO) != 0 && previous_action.sa_sigaction != nullptr) {
    previous_action.sa_sigaction(signal, info, context);
  } else if (previous_action.sa_handler != SIG_DFL && previous_action.sa_handler != SIG_IGN &&
             previous_action.sa_handler != nullptr) {
    previous_action.sa_handler(signal);
  } else {
    ::signal(signal, SIG_DFL);
  }
}

// As mmap(), which sanitizers intercept: that code is not fit for a signal handler.
bool map_zeros(std::uintptr_t page) {
  auto* address = reinterpret_cast<void*>(page);
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
#if defined(__linux__)
  return ::syscall(SYS_mmap, address, page_size_for_handler, PROT_READ, kFlags, -1, 0) != -1;
#else
  return ::mmap(address, page_size_for_handler, PROT_READ, kFlags, -1, 0) != MAP_FAILED;
#endif
}

void on_bus_error(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  // Two ranges of one mapping may share a page: each hears of its loss.
  const std::uintptr_t page = address & ~(page_size_for_handler - 1);
  bool is_guarded = false;
  for (const volatile GuardedRange& range : guarded) {
    if (range.end == 0 || page + page_size_for_handler <= range.begin || page >= range.end) {
      continue;
    }
    range.lost->store(true);
    is_guarded = true;
  }
  // SAFETY: the page lies in a mapping that the guard's owner holds.
  if (!is_guarded || !map_zeros(page)) pass_on(signal, info, context);
}

}  // namespace

Mapping::Mapping(const File& file, std::size_t nbytes, Access access) : access_(access) {
  if (nbytes == 0) return;
  const bool writable = access == Access::copy_on_write;
  // Memory is set aside for the pages that are written, not for all that could be.
  void* data = ::mmap(nullptr, nbytes, writable ? PROT_READ | PROT_WRITE : PROT_READ,
                      writable ? MAP_PRIVATE | MAP_NORESERVE : MAP_SHARED, file.fd(), 0);
  if (data == MAP_FAILED) {
    error_ = errno;
    return;
  }
  data_ = static_cast<std::byte*>(data);
  nbytes_ = nbytes;
}

Mapping::~Mapping() {
  if (data_ != nullptr) ::munmap(data_, nbytes_);
}

void Mapping::drop(std::uint64_t offset, std::size_t nbytes) const {
  const std::uint64_t begin = offset / kDropUnit * kDropUnit;
  const std::uint64_t end =
      std::min<std::uint64_t>((offset + nbytes + kDropUnit - 1) / kDropUnit * kDropUnit, nbytes_);
  if (end > begin) ::madvise(data_ + begin, end - begin, MADV_DONTNEED);
}

std::unique_ptr<Mapping> map_file(const std::string& path, Mapping::Access access) {
  const OpenFile open(path);
  auto mapping = std::make_unique<Mapping>(open.file, open.size, access);
  if (mapping->error() != 0) throw SystemError(mapping->error(), path);
  return mapping;
}

PageGuard::PageGuard(const std::byte* data, std::size_t nbytes, std::atomic<bool>& lost)
    : slot_(guarded[0].end == 0 ? 0 : 1) {
  assert(guarded[slot_].end == 0);
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
