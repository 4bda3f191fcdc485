// A file that is written, and exists whole or not at all: it gets its name when it is complete.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace fastdump {

class NewFile {
 public:
  // Makes a file in a directory that stays open. Until it gets its name it has one made of
  // `number`, which nobody else should use. error() tells whether that failed.
  NewFile(int directory, std::uint64_t number);
  ~NewFile();  // removes it, unless it has its name
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  int error() const { return error_; }  // errno

  // Writes both, one after the other, behind what was written before. Returns an errno.
  int write(std::span<const std::byte> head, std::span<const std::byte> rest);
  // Closes the file and gives it its name; another file of that name is gone then. Returns an
  // errno.
  int finish(const char* name);

 private:
  static constexpr int kClosed = -1;

  int close();

  const int directory_;
  std::array<char, 32> temporary_;
  int descriptor_ = kClosed;
  int error_ = 0;
  bool is_there_ = false;  // under its temporary name
};

}  // namespace fastdump
