// The guard that lets a thread read a mapping although its file may become shorter meanwhile.
#pragma once

#include <atomic>
#include <cstddef>

namespace fastdump {

// A page of [data, data + nbytes) that the file no longer has would end the process with SIGBUS.
// While the guard lives, such a page reads as zeros in the thread that made the guard, and `lost`
// becomes true before any thread can see one of these zeros. A thread has at most kMaxPageGuards at
// a time.
class PageGuard {
 public:
  PageGuard(const std::byte* data, std::size_t nbytes, std::atomic<bool>& lost);
  ~PageGuard();
  PageGuard(const PageGuard&) = delete;
  PageGuard& operator=(const PageGuard&) = delete;

 private:
  std::size_t slot_;
};

// Two for the tensors of a comparison, and as many around it: of a caller that reads two mappings.
inline constexpr std::size_t kMaxPageGuards = 4;

// Installs the SIGBUS handler that guards need. A fault outside of every guard goes to the handler
// that was there before, as if there were no other. Cheap if the handler is in place.
void install_page_guard();

}  // namespace fastdump
