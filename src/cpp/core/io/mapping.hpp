// A file in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/io/file.hpp"

namespace fastdump {

class Mapping {
 public:
  using Access = fastdump::Access;

  Mapping() = default;
  // Maps the first `nbytes` of the file; no bytes at all are a mapping too. data() is nullptr if
  // the system refuses, and error() tells why.
  Mapping(const File& file, std::size_t nbytes, Access access = Access::read_only);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  const std::byte* data() const { return data_; }
  std::size_t nbytes() const { return nbytes_; }
  Access access() const { return access_; }
  int error() const { return error_; }  // errno

  // Gives back the pages of [offset, offset + nbytes) and those that faults on them brought along.
  // All stay readable, at the price of a fault.
  void drop(std::uint64_t offset, std::size_t nbytes) const;

 private:
  std::byte* data_ = nullptr;
  std::size_t nbytes_ = 0;
  Access access_ = Access::read_only;
  int error_ = 0;
};

// Maps a whole file, which has to be in the state in which its header was read. Throws SystemError
// and FileChangedError.
std::unique_ptr<Mapping> map_file(const std::string& path, FileState expected, Access access);

}  // namespace fastdump
