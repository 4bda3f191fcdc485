// The one seam between the core and the operating system's files: every system call on a file, a
// directory or a mapping goes through a System, and a test may put another one in its place. The
// calls are as raw as they can be with types of our own: each is made once, so that interruptions
// and short reads are seen by the callers, who have to deal with them.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace fastdump {

enum class FileType : std::uint8_t { unknown, regular, directory, link, fifo, socket, device };

struct FileStatus {
  FileType type = FileType::unknown;
  std::uint64_t nbytes = 0;
  // The device may be another on each machine that mounts the file.
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;
};

struct DirectoryEntry {
  std::string_view name;              // stays until the next entry
  FileType type = FileType::unknown;  // not every file system tells
};

enum class OpenAs : std::uint8_t { file, directory };
enum class Links : std::uint8_t { follow, keep };

// How a mapping may be used.
enum class Access : std::uint8_t {
  read_only,      // a write ends the process
  copy_on_write,  // a write stays in its mapping and never reaches the file
};

// A directory that is being listed.
class DirectoryStream;

// Every function returns a negative errno if it fails.
class System {
 public:
  virtual ~System() = default;

  // A descriptor for reading, of a path in an open directory or, if that is kNoDirectory, in the
  // working directory. Opening never waits for the writer of a FIFO.
  static constexpr int kNoDirectory = -1;
  virtual int open(int directory, const char* path, OpenAs as);
  // The same of a name that is no link.
  virtual int open_own(int directory, const char* name, OpenAs as);
  virtual int close(int descriptor);
  virtual int status(int descriptor, FileStatus& status);
  virtual int status_of_path(const char* path, Links links, FileStatus& status);
  // Of what a name in an open directory leads to.
  virtual int status_in(int directory, const char* name, FileStatus& status);
  // The number of bytes read, which may be fewer than `buffer` holds; 0 at the end of the file.
  virtual std::int64_t read(int descriptor, std::span<std::byte> buffer, std::uint64_t offset);

  virtual int make_directory(int directory, const char* name);
  // A descriptor for writing into a new file.
  virtual int create(int directory, const char* name);
  // The number of bytes written at the end, which may be fewer than both have.
  virtual std::int64_t write(int descriptor, std::span<const std::byte> head,
                             std::span<const std::byte> rest);
  // In one directory; the new name may be that of another file.
  virtual int rename(int directory, const char* from, const char* to);
  virtual int remove(int directory, const char* name);

  // Whether a page fault on the file would have to reach over a network; 0 or 1.
  virtual int is_on_network(int descriptor);

  // Maps the first `nbytes` of the file.
  virtual int map(int descriptor, std::size_t nbytes, Access access, std::byte*& data);
  virtual int unmap(std::byte* data, std::size_t nbytes);
  // Gives back the memory of these pages, which are read from the file again when they are used.
  virtual int drop_pages(std::byte* data, std::size_t nbytes);

  virtual int open_directory(const char* path, DirectoryStream*& directory);
  // 1 and an entry, or 0 at the end.
  virtual int next_entry(DirectoryStream* directory, DirectoryEntry& entry);
  virtual void close_directory(DirectoryStream* directory);
  // The absolute path without links.
  virtual int resolve(const char* path, std::string& absolute);

  // Nanoseconds since 1970, by the clock that gives files their times.
  virtual std::int64_t now_ns();
  virtual void wait_ns(std::int64_t ns);
};

// The one in use.
System& system();

// Puts a System in the place of the one in use while it lives. Only where no other thread is at
// work with files: for tests.
class SystemReplacement {
 public:
  explicit SystemReplacement(System& replacement);
  ~SystemReplacement();
  SystemReplacement(const SystemReplacement&) = delete;
  SystemReplacement& operator=(const SystemReplacement&) = delete;

 private:
  System* previous_;
};

// The result of a call that is made again for as long as a signal interrupts it.
template <class Call>
auto retry_interrupted(const Call& call) {
  for (;;) {
    const auto result = call();
    if (result != -EINTR) return result;
  }
}

}  // namespace fastdump
