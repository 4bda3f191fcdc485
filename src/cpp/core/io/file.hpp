// Open files and positional reads. A failure is an errno and a value, not an exception: a scan
// meets failures by the thousand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/io/file_state.hpp"
#include "core/io/system.hpp"

namespace fastdump {

class File {
 public:
  File() = default;
  // Opens a file for reading. Opening never waits for the writer of a FIFO, and never makes a
  // terminal the process's own. error() tells whether it failed.
  explicit File(const char* path);
  // Opens a file by its name in an open directory.
  File(const File& directory, const char* name);
  // As File(path); but where the process may open no more files, waits for other threads to close
  // some. For callers that hold none themselves.
  static File wait_for(const char* path);
  // Opens a directory, to open files in it.
  static File directory(const char* path);
  // Opens what an open directory has itself: a link is an error.
  static File own(int directory, const char* name, OpenAs as);
  ~File();
  File(File&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, kClosed)), error_(other.error_) {}
  File& operator=(File&& other) noexcept;
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int descriptor() const { return descriptor_; }
  int error() const { return error_; }  // errno of a failed open; 0: open

  // Of a regular file. Returns 0 or an errno: EISDIR for a directory, EINVAL for any other kind.
  int status(FileStatus& status) const;
  // The same of a file to which nobody wrote just now: the next write will change its state, as
  // one within the same tick of the clock would not. Waits for some ticks if it has to, and returns
  // kFileChanged if that is not enough.
  int settled_status(FileStatus& status) const;
  // The size of a regular file, or a negative errno.
  std::int64_t size() const;
  // 0 if the file is in this state, kFileChanged if it is not, or the errno of not knowing.
  int check_state(FileState state) const;

 private:
  static constexpr int kClosed = -1;

  // Takes what a call to open has returned.
  explicit File(int opened);

  int descriptor_ = kClosed;
  int error_ = 0;
};

// Throws FileChangedError if the file at a path is not, or not any more, in a state; SystemError if
// there is none.
void require_state_of_path(const std::string& path, FileState state);

struct ReadResult {
  std::size_t nbytes = 0;  // fewer than asked for: the file ends, or error is set
  int error = 0;           // errno
};

// A regular file, open for reading, for callers to whom a failure is an exception.
struct OpenFile {
  // `expected` is the state in which the header was read, if this is not the first time. Throws
  // SystemError, and FileChangedError if the file is in another state or somebody is writing to it.
  explicit OpenFile(const std::string& path, std::optional<FileState> expected = {});

  // Throws FileChangedError if the file has changed since it was opened, and SystemError.
  void require_unchanged(const std::string& path) const;

  File file;
  std::uint64_t size;
  FileState state;
};

// Reads once into `buffer`, from `offset` on. The read may be short.
ReadResult read_some_at(const File& file, std::span<std::byte> buffer, std::uint64_t offset);

// Fills `buffer` from `offset` on, however short single reads are.
ReadResult read_at(const File& file, std::span<std::byte> buffer, std::uint64_t offset);

// Whether the file lies on a file system that a page fault would have to reach over a network.
bool is_on_network(const File& file);

}  // namespace fastdump
