// What the core throws. One class for each cause that a caller would act on differently; the
// binding maps each to a Python class of the same name. Nothing prints, nothing aborts.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace fastdump {

// Bytes that are not what their format requires. `offset` is where in the file this was seen.
class FormatError : public std::runtime_error {
 public:
  FormatError(const std::string& what, std::uint64_t offset)
      : std::runtime_error(what), offset_(offset) {}
  std::uint64_t offset() const { return offset_; }

 private:
  std::uint64_t offset_;
};

// A format or a shape from which there is no way to the host's order of elements.
class LayoutError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A file that is no longer what it was when its header was read, or changes while it is read.
class FileChangedError : public FormatError {
 public:
  explicit FileChangedError(std::string_view what) : FormatError(std::string(what), 0) {}
};

// What there is to tell takes more memory than it may.
class TableTooLargeError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A system call failed, on a path if there is one.
class SystemError : public std::runtime_error {
 public:
  SystemError(int error_number, const std::string& path);
  int error_number() const { return error_number_; }
  const std::string& path() const { return path_; }

 private:
  int error_number_;
  std::string path_;
};

}  // namespace fastdump
