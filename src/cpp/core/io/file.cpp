#include "core/io/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/errors.hpp"

#if defined(__linux__)
#include <sys/vfs.h>
#else
#include <sys/mount.h>
#include <sys/param.h>
#endif

namespace fastdump {

File::File(int directory, const char* path, int flags)
    : fd_(::openat(directory, path, flags | O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {
  if (fd_ < 0) error_ = errno;
}

File::File(const char* path) : File(AT_FDCWD, path, 0) {}

File::File(const File& directory, const char* name) : File(directory.fd(), name, 0) {}

File File::directory(const char* path) { return File(AT_FDCWD, path, O_DIRECTORY); }

File::~File() {
  if (fd_ >= 0) ::close(fd_);
}

File& File::operator=(File&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(error_, other.error_);
  return *this;
}

std::int64_t File::size() const {
  struct stat status;
  if (::fstat(fd_, &status) != 0) return -errno;
  if (S_ISDIR(status.st_mode)) return -EISDIR;
  if (!S_ISREG(status.st_mode)) return -EINVAL;
  return status.st_size;
}

OpenFile::OpenFile(const std::string& path) : file(path.c_str()) {
  if (file.error() != 0) throw SystemError(file.error(), path);
  const std::int64_t found = file.size();
  if (found < 0) throw SystemError(static_cast<int>(-found), path);
  size = static_cast<std::uint64_t>(found);
}

ReadResult read_some_at(const File& file, std::span<std::byte> buffer, std::uint64_t offset) {
  for (;;) {
    const ssize_t n = ::pread(file.fd(), buffer.data(), buffer.size(), static_cast<off_t>(offset));
    if (n >= 0) return {static_cast<std::size_t>(n), 0};
    if (errno != EINTR) return {0, errno};
  }
}

ReadResult read_at(const File& file, std::span<std::byte> buffer, std::uint64_t offset) {
  ReadResult result;
  while (result.nbytes < buffer.size()) {
    const ReadResult some =
        read_some_at(file, buffer.subspan(result.nbytes), offset + result.nbytes);
    result.nbytes += some.nbytes;
    result.error = some.error;
    if (some.nbytes == 0) break;
  }
  return result;
}

bool on_network(const File& file) {
#if defined(__linux__)
  struct statfs status;
  if (::fstatfs(file.fd(), &status) != 0) return false;
  switch (static_cast<std::uint32_t>(status.f_type)) {
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
      return true;
    default:
      return false;
  }
#else
  struct statfs status;
  return ::fstatfs(file.fd(), &status) == 0 && (status.f_flags & MNT_LOCAL) == 0;
#endif
}

}  // namespace fastdump
