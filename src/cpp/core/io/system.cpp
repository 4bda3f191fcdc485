#include "core/io/system.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <limits>

#if defined(__linux__)
#include <sys/vfs.h>
#else
#include <sys/mount.h>
#include <sys/param.h>
#endif

namespace fastdump {
namespace {

// Never destroyed: threads of a scan may be at work until the process has ended.
std::atomic<System*> in_use = new System;

FileType type_of_mode(mode_t mode) {
  if (S_ISREG(mode)) return FileType::regular;
  if (S_ISDIR(mode)) return FileType::directory;
  if (S_ISLNK(mode)) return FileType::link;
  if (S_ISFIFO(mode)) return FileType::fifo;
  if (S_ISSOCK(mode)) return FileType::socket;
  return FileType::device;
}

FileType type_of_entry(unsigned char type) {
  switch (type) {
    case DT_REG:
      return FileType::regular;
    case DT_DIR:
      return FileType::directory;
    case DT_LNK:
      return FileType::link;
    case DT_FIFO:
      return FileType::fifo;
    case DT_SOCK:
      return FileType::socket;
    case DT_CHR:
    case DT_BLK:
      return FileType::device;
    default:
      return FileType::unknown;
  }
}

std::int64_t nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

FileStatus to_status(const struct stat& found) {
  FileStatus status;
  status.type = type_of_mode(found.st_mode);
  status.nbytes = static_cast<std::uint64_t>(found.st_size);
  status.device = static_cast<std::uint64_t>(found.st_dev);
  status.inode = static_cast<std::uint64_t>(found.st_ino);
#if defined(__APPLE__)
  status.modified_ns = nanoseconds(found.st_mtimespec);
  status.changed_ns = nanoseconds(found.st_ctimespec);
#else
  status.modified_ns = nanoseconds(found.st_mtim);
  status.changed_ns = nanoseconds(found.st_ctim);
#endif
  return status;
}

// A DIR by a name that other files can use without its header.
DIR* to_dir(DirectoryStream* directory) { return reinterpret_cast<DIR*>(directory); }

}  // namespace

System& system() { return *in_use.load(std::memory_order_acquire); }

SystemReplacement::SystemReplacement(System& replacement)
    : previous_(in_use.exchange(&replacement)) {}

SystemReplacement::~SystemReplacement() { in_use = previous_; }

int System::open(int directory, const char* path, OpenAs as) {
  const int flags = as == OpenAs::directory ? O_DIRECTORY : 0;
  const int descriptor = ::openat(directory == kNoDirectory ? AT_FDCWD : directory, path,
                                  flags | O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  return descriptor < 0 ? -errno : descriptor;
}

int System::open_own(int directory, const char* name, OpenAs as) {
  const int flags = as == OpenAs::directory ? O_DIRECTORY : 0;
  const int descriptor =
      ::openat(directory, name, flags | O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  return descriptor < 0 ? -errno : descriptor;
}

// Not to be made again: the descriptor is free after the call, whatever it returns.
int System::close(int descriptor) { return ::close(descriptor) != 0 ? -errno : 0; }

int System::status(int descriptor, FileStatus& status) {
  struct stat found;
  if (::fstat(descriptor, &found) != 0) return -errno;
  status = to_status(found);
  return 0;
}

int System::status_of_path(const char* path, Links links, FileStatus& status) {
  struct stat found;
  const int result = links == Links::follow ? ::stat(path, &found) : ::lstat(path, &found);
  if (result != 0) return -errno;
  status = to_status(found);
  return 0;
}

int System::status_in(int directory, const char* name, FileStatus& status) {
  struct stat found;
  if (::fstatat(directory, name, &found, 0) != 0) return -errno;
  status = to_status(found);
  return 0;
}

std::int64_t System::read(int descriptor, std::span<std::byte> buffer, std::uint64_t offset) {
  if (offset > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max())) return -EINVAL;
  const ssize_t n = ::pread(descriptor, buffer.data(), buffer.size(), static_cast<off_t>(offset));
  return n < 0 ? -errno : n;
}

int System::make_directory(int directory, const char* name) {
  return ::mkdirat(directory, name, 0777) != 0 ? -errno : 0;
}

int System::create(int directory, const char* name) {
  const int descriptor =
      ::openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  return descriptor < 0 ? -errno : descriptor;
}

std::int64_t System::write(int descriptor, std::span<const std::byte> head,
                           std::span<const std::byte> rest) {
  // SAFETY: writev() only reads what its pieces point to.
  const iovec pieces[] = {{const_cast<std::byte*>(head.data()), head.size()},
                          {const_cast<std::byte*>(rest.data()), rest.size()}};
  const ssize_t n = ::writev(descriptor, pieces, 2);
  return n < 0 ? -errno : n;
}

int System::rename(int directory, const char* from, const char* to) {
  return ::renameat(directory, from, directory, to) != 0 ? -errno : 0;
}

int System::remove(int directory, const char* name) {
  return ::unlinkat(directory, name, 0) != 0 ? -errno : 0;
}

int System::is_on_network(int descriptor) {
  struct statfs found;
  if (::fstatfs(descriptor, &found) != 0) return -errno;
#if defined(__linux__)
  switch (static_cast<std::uint32_t>(found.f_type)) {
    case 0x00006969:  // NFS
    case 0x0BD00BD0:  // Lustre
    case 0xFF534D42:  // CIFS
    case 0xFE534D42:  // SMB2
    case 0x0000517B:  // SMB
    case 0x00C36400:  // Ceph
    case 0x47504653:  // GPFS
    case 0x19830326:  // BeeGFS
    case 0x65735546:  // FUSE: often a network file system, and its faults are slow in any case
    case 0x01021997:  // 9P
    case 0x5346414F:  // AFS
      return 1;
    default:
      return 0;
  }
#else
  return (found.f_flags & MNT_LOCAL) == 0 ? 1 : 0;
#endif
}

int System::map(int descriptor, std::size_t nbytes, Access access, std::byte*& data) {
  const bool writable = access == Access::copy_on_write;
  // Memory is set aside for the pages that are written, not for all that could be.
  void* mapped = ::mmap(nullptr, nbytes, writable ? PROT_READ | PROT_WRITE : PROT_READ,
                        writable ? MAP_PRIVATE | MAP_NORESERVE : MAP_SHARED, descriptor, 0);
  if (mapped == MAP_FAILED) return -errno;
  data = static_cast<std::byte*>(mapped);
  return 0;
}

int System::unmap(std::byte* data, std::size_t nbytes) {
  return ::munmap(data, nbytes) == 0 ? 0 : -errno;
}

int System::drop_pages(std::byte* data, std::size_t nbytes) {
  return ::madvise(data, nbytes, MADV_DONTNEED) == 0 ? 0 : -errno;
}

int System::open_directory(const char* path, DirectoryStream*& directory) {
  DIR* opened = ::opendir(path);
  if (opened == nullptr) return -errno;
  directory = reinterpret_cast<DirectoryStream*>(opened);
  return 0;
}

int System::next_entry(DirectoryStream* directory, DirectoryEntry& entry) {
  errno = 0;
  const dirent* found = ::readdir(to_dir(directory));
  if (found == nullptr) return -errno;
  entry.name = found->d_name;
  entry.type = type_of_entry(found->d_type);
  return 1;
}

void System::close_directory(DirectoryStream* directory) { ::closedir(to_dir(directory)); }

int System::resolve(const char* path, std::string& absolute) {
  char* resolved = ::realpath(path, nullptr);
  if (resolved == nullptr) return -errno;
  absolute = resolved;
  ::free(resolved);
  return 0;
}

std::int64_t System::now_ns() {
#if defined(CLOCK_REALTIME_COARSE)
  constexpr clockid_t kClock = CLOCK_REALTIME_COARSE;
#else
  constexpr clockid_t kClock = CLOCK_REALTIME;
#endif
  struct timespec now = {};
  ::clock_gettime(kClock, &now);
  return nanoseconds(now);
}

void System::wait_ns(std::int64_t ns) {
  const struct timespec time = {static_cast<time_t>(ns / 1'000'000'000),
                                static_cast<long>(ns % 1'000'000'000)};
  ::nanosleep(&time, nullptr);
}

}  // namespace fastdump
