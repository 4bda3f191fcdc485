// Where bytes are: in a file, which is mapped or read, or in memory. Any number of threads may use
// a source at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/io/file.hpp"
#include "core/io/mapping.hpp"
#include "core/io/page_guard.hpp"

namespace fastdump {

class Source {
 public:
  // An open file in a state that is known. The system is asked for its size when somebody needs it.
  Source(File file, FileState state) : file_(std::move(file)), state_(state) {}
  // An open file that had so many bytes. `head` are its first bytes, if they were read before and
  // stay for as long as the source.
  Source(File file, FileState state, std::uint64_t nbytes, std::span<const std::byte> head = {})
      : file_(std::move(file)),
        state_(state),
        size_{nbytes, 0},
        is_size_known_(true),
        head_(head) {}
  // Bytes in memory, which stay for as long as the source. They may be a mapping of a file, if the
  // page guard is installed.
  explicit Source(std::span<const std::byte> memory)
      : is_memory_(true), size_{memory.size(), 0}, is_size_known_(true), head_(memory) {}
  // Bytes that are read already, and that the source keeps.
  Source(std::unique_ptr<const std::byte[]> bytes, std::size_t nbytes)
      : Source(std::span(bytes.get(), nbytes)) {
    kept_ = std::move(bytes);
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  struct Size {
    std::uint64_t nbytes = 0;
    int error = 0;  // errno: the system did not tell
  };
  Size size() const;
  bool is_memory() const { return is_memory_; }
  bool is_on_network() const { return !is_memory() && fastdump::is_on_network(file_); }

  // What it keeps from `offset` on: bytes that stay as they are, and need no view. Empty if it
  // keeps none.
  std::span<const std::byte> kept(std::uint64_t offset) const {
    if (kept_ == nullptr || offset > head_.size()) return {};
    return head_.subspan(static_cast<std::size_t>(offset));
  }
  // Fills `buffer` from `offset` on.
  ReadResult read(std::uint64_t offset, std::span<std::byte> buffer) const;
  // 0 if all that was read until now is of the state in which the file was, kFileChanged if not, or
  // the errno of not knowing. What was read of a file that is being cut may be zeros, and what was
  // read of one that is being written a mixture: nothing holds of it unless this is asked at the
  // end.
  int check_state() const {
    if (is_memory_) return has_lost_page_ ? kFileChanged : 0;
    return file_.check_state(state_);
  }

  // Maps the file, once, so that its bytes can be looked at where they are. Returns 0, or the errno
  // of the system's refusal.
  int map();
  bool is_mapped() const { return is_mapped_.load(); }
  // Gives back the memory that looking at these bytes has taken, if the file is mapped.
  void drop(std::uint64_t offset, std::uint64_t nbytes) const;

  // Counts bytes that were gathered. True now and then: what was gathered from should be dropped.
  bool count_gathered(std::size_t nbytes);

 private:
  friend class View;

  const std::byte* place(std::uint64_t offset) const {
    return (is_memory_ ? head_.data() : mapping_->data()) + offset;
  }
  const File file_;
  const FileState state_{};
  const bool is_memory_ = false;
  mutable std::mutex mutex_;  // held while the size is found, or the file mapped
  mutable Size size_;
  mutable std::atomic<bool> is_size_known_ = false;
  const std::span<const std::byte> head_;  // what is known of a file; all that is in memory
  std::unique_ptr<const std::byte[]> kept_;
  std::unique_ptr<Mapping> mapping_;
  std::atomic<bool> has_tried_to_map_ = false;
  std::atomic<bool> is_mapped_ = false;
  std::atomic<bool> has_lost_page_ = false;  // a mapped page is gone: from now on the file is read
  std::atomic<std::uint64_t> gathered_nbytes_ = 0;
};

// Bytes of a source that are looked at where they are, by the thread that made the view. While it
// lives, a page that the file loses reads as zeros instead of ending the process.
class View {
 public:
  View(Source& source, std::uint64_t offset, std::uint64_t nbytes);
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  // nullptr: the bytes have to be read.
  const std::byte* data() const { return data_; }
  // Ends the view. True if all that was seen was the source's, and no zeros in its place.
  bool close();
  // After close() was false: an errno, or 0 if the file has become shorter.
  int error() const { return error_; }

 private:
  Source& source_;
  const std::byte* data_ = nullptr;
  int error_ = 0;
  std::optional<PageGuard> guard_;
};

}  // namespace fastdump
