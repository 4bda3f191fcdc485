#include "core/io/file.hpp"

#include <cerrno>

#include "core/errors.hpp"
#include "core/io/descriptors.hpp"

namespace fastdump {
namespace {

// For a file to settle; one that somebody goes on writing to never does.
constexpr int kMaxWaits = 10;

int open_file(int directory, const char* path, OpenAs as) {
  return retry_interrupted([&] { return system().open(directory, path, as); });
}

}  // namespace

File::File(int opened) {
  if (opened < 0) {
    error_ = -opened;
  } else {
    descriptor_ = opened;
    count_opened_descriptor();
  }
}

File::File(const char* path) : File(open_file(System::kNoDirectory, path, OpenAs::file)) {}

File::File(const File& directory, const char* name)
    : File(open_file(directory.descriptor(), name, OpenAs::file)) {}

File File::directory(const char* path) {
  return File(open_file(System::kNoDirectory, path, OpenAs::directory));
}

File File::own(int directory, const char* name, OpenAs as) {
  return File(retry_interrupted([&] { return system().open_own(directory, name, as); }));
}

File File::wait_for(const char* path) {
  File file;
  const int error = -retry_scarce([&] {
    file = File(path);
    return -file.error();
  });
  file.error_ = error;
  return file;
}

File::~File() {
  if (descriptor_ == kClosed) return;
  system().close(descriptor_);
  count_closed_descriptor();
}

File& File::operator=(File&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(error_, other.error_);
  return *this;
}

int File::status(FileStatus& status) const {
  const int result = retry_interrupted([&] { return system().status(descriptor_, status); });
  if (result != 0) return -result;
  if (status.type == FileType::directory) return EISDIR;
  return status.type == FileType::regular ? 0 : EINVAL;
}

int File::settled_status(FileStatus& found) const {
  for (int n_waits = 0; n_waits <= kMaxWaits; ++n_waits) {
    if (const int error = status(found); error != 0) return error;
    if (!was_written_just_now(found)) return 0;
    if (n_waits < kMaxWaits) system().wait_ns(kClockTickNs);
  }
  return kFileChanged;
}

std::int64_t File::size() const {
  FileStatus found;
  if (const int error = status(found); error != 0) return -error;
  return static_cast<std::int64_t>(found.nbytes);
}

int File::check_state(FileState state) const {
  FileStatus found;
  if (const int error = status(found); error != 0) return error;
  return state_of(found) == state ? 0 : kFileChanged;
}

OpenFile::OpenFile(const std::string& path, std::optional<FileState> expected)
    : file(File::wait_for(path.c_str())) {
  if (file.error() != 0) throw SystemError(file.error(), path);
  FileStatus found;
  const int problem = expected ? file.status(found) : file.settled_status(found);
  if (problem == kFileChanged) throw FileChangedError(kChangedWhileRead);
  if (problem != 0) throw SystemError(problem, path);
  size = found.nbytes;
  state = state_of(found);
  if (expected && state != *expected) throw FileChangedError(kChangedSince);
}

void OpenFile::require_unchanged(const std::string& path) const {
  const int problem = file.check_state(state);
  if (problem == kFileChanged) throw FileChangedError(kChangedWhileRead);
  if (problem != 0) throw SystemError(problem, path);
}

void require_state_of_path(const std::string& path, FileState state) {
  FileStatus found;
  const int result = retry_interrupted(
      [&] { return system().status_of_path(path.c_str(), Links::follow, found); });
  if (result != 0) throw SystemError(-result, path);
  if (state_of(found) != state) throw FileChangedError(kChangedSince);
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
