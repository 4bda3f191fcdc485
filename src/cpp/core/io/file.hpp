// Open files and positional reads. A failure is an errno and a value, not an exception: a scan
// meets failures by the thousand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

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
  // Opens a directory, to open files in it.
  static File directory(const char* path);
  ~File();
  File(File&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, kClosed)), error_(other.error_) {}
  File& operator=(File&& other) noexcept;
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int descriptor() const { return descriptor_; }
  int error() const { return error_; }  // errno of a failed open; 0: open

  // Which file this is, and in which state. Returns 0 or an errno.
  int status(FileStatus& status) const;
  // The size of a regular file, or a negative errno: -EISDIR for a directory, -EINVAL for any other
  // kind of file.
  std::int64_t size() const;

 private:
  static constexpr int kClosed = -1;

  File(int directory, const char* path, OpenAs as);

  int descriptor_ = kClosed;
  int error_ = 0;
};

struct ReadResult {
  std::size_t nbytes = 0;  // fewer than asked for: the file ends, or error is set
  int error = 0;           // errno
};

// A regular file, open for reading, for callers to whom a failure is an exception. The constructor
// throws SystemError.
struct OpenFile {
  explicit OpenFile(const std::string& path);
  File file;
  std::uint64_t size;
};

// Reads once into `buffer`, from `offset` on. The read may be short.
ReadResult read_some_at(const File& file, std::span<std::byte> buffer, std::uint64_t offset);

// Fills `buffer` from `offset` on, however short single reads are.
ReadResult read_at(const File& file, std::span<std::byte> buffer, std::uint64_t offset);

// Whether the file lies on a file system that a page fault would have to reach over a network.
bool is_on_network(const File& file);

}  // namespace fastdump
