// A file in memory, and the guard that lets a thread read it although the file may shrink.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/io/file.hpp"

namespace fastdump {

class Mapping {
 public:
  enum class Access : std::uint8_t {
    read_only,      // a write ends the process
    copy_on_write,  // a write stays in this mapping and never reaches the file
  };

  Mapping() = default;
  // Maps the first `nbytes` of the file; none is a mapping too. data() is nullptr if the system
  // refuses, error() then tells why.
  Mapping(const File& file, std::size_t nbytes, Access access = Access::read_only);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  const std::byte* data() const { return data_; }
  std::size_t nbytes() const { return nbytes_; }
  Access access() const { return access_; }
  int error() const { return error_; }  // errno

  // Gives back the pages of [offset, offset + nbytes) and those that faults on them brought along.
  // They stay readable, at the price of a fault.
  void drop(std::uint64_t offset, std::size_t nbytes) const;

 private:
  std::byte* data_ = nullptr;
  std::size_t nbytes_ = 0;
  Access access_ = Access::read_only;
  int error_ = 0;
};

// Maps a whole file. Throws SystemError.
std::unique_ptr<Mapping> map_file(const std::string& path, Mapping::Access access);

// While it lives, a page of [data, data + nbytes) that the file no longer has reads as zeros in
// this thread instead of ending the process, and `lost` becomes true before any zero can be seen,
// in any thread. A thread has at most kMaxPageGuards at a time.
class PageGuard {
 public:
  PageGuard(const std::byte* data, std::size_t nbytes, std::atomic<bool>& lost);
  ~PageGuard();
  PageGuard(const PageGuard&) = delete;
  PageGuard& operator=(const PageGuard&) = delete;

 private:
  std::size_t slot_;
};

// Of the two tensors of a comparison.
inline constexpr std::size_t kMaxPageGuards = 2;

// Installs the SIGBUS handler that guards need; faults outside any guard go to the handler that was
// there before. Cheap if it is in place.
void install_page_guard();

}  // namespace fastdump
