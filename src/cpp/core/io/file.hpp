// Open files and positional reads. Every system call on file bytes but mmap is here; failures carry
// errno and are values, not exceptions, for a scan meets them by the thousand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace fastdump {

class File {
 public:
  File() = default;
  // Opens for reading; never waits on a FIFO, never becomes a controlling terminal's owner.
  // error() tells whether it failed.
  explicit File(const char* path);
  // The same, of a name in an open directory.
  File(const File& directory, const char* name);
  // A directory, to open files in.
  static File directory(const char* path);
  ~File();
  File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)), error_(other.error_) {}
  File& operator=(File&& other) noexcept;
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int fd() const { return fd_; }
  int error() const { return error_; }  // errno of a failed open; 0: open

  // The size of a regular file, or -errno. Other kinds of file are -EINVAL, directories -EISDIR.
  std::int64_t size() const;

 private:
  File(int directory, const char* path, int flags);

  int fd_ = -1;
  int error_ = 0;
};

struct ReadResult {
  std::size_t nbytes = 0;  // fewer than asked for: the file ends, or error is set
  int error = 0;           // errno
};

// A regular file, open for reading. Throws SystemError where a caller has one file and no use for
// an error as a value.
struct OpenFile {
  explicit OpenFile(const std::string& path);
  File file;
  std::uint64_t size;
};

// One read into `buffer` from `offset` on, which may be short.
ReadResult read_some_at(const File& file, std::span<std::byte> buffer, std::uint64_t offset);

// Fills `buffer` from `offset` on, across short reads and interruptions.
ReadResult read_at(const File& file, std::span<std::byte> buffer, std::uint64_t offset);

// Whether the file lies on a file system that a page fault would reach over a network.
bool on_network(const File& file);

}  // namespace fastdump
