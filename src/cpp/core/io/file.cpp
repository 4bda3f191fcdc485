#include "core/io/file.hpp"

#include <cerrno>

#include "core/errors.hpp"

namespace fastdump {

File::File(int directory, const char* path, OpenAs as) {
  const int opened = retry_interrupted([&] { return system().open(directory, path, as); });
  if (opened < 0) {
    error_ = -opened;
  } else {
    descriptor_ = opened;
  }
}

File::File(const char* path) : File(System::kNoDirectory, path, OpenAs::file) {}

File::File(const File& directory, const char* name)
    : File(directory.descriptor(), name, OpenAs::file) {}

File File::directory(const char* path) {
  return File(System::kNoDirectory, path, OpenAs::directory);
}

File::~File() {
  if (descriptor_ != kClosed) system().close(descriptor_);
}

File& File::operator=(File&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(error_, other.error_);
  return *this;
}

int File::status(FileStatus& status) const {
  return -retry_interrupted([&] { return system().status(descriptor_, status); });
}

std::int64_t File::size() const {
  FileStatus found;
  if (const int error = status(found); error != 0) return -error;
  if (found.type == FileType::directory) return -EISDIR;
  if (found.type != FileType::regular) return -EINVAL;
  return static_cast<std::int64_t>(found.nbytes);
}

OpenFile::OpenFile(const std::string& path) : file(path.c_str()) {
  if (file.error() != 0) throw SystemError(file.error(), path);
  const std::int64_t found = file.size();
  if (found < 0) throw SystemError(static_cast<int>(-found), path);
  size = static_cast<std::uint64_t>(found);
}

ReadResult read_some_at(const File& file, std::span<std::byte> buffer, std::uint64_t offset) {
  const std::int64_t n =
      retry_interrupted([&] { return system().read(file.descriptor(), buffer, offset); });
  if (n < 0) return {0, static_cast<int>(-n)};
  return {static_cast<std::size_t>(n), 0};
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

bool is_on_network(const File& file) {
  return retry_interrupted([&] { return system().is_on_network(file.descriptor()); }) == 1;
}

}  // namespace fastdump
