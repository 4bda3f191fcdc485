// The bytes that a file is described from. Each is read once, into memory that nobody else writes:
// what was checked stays what it was, whatever becomes of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace fastdump {

class HeaderBytes {
 public:
  // `head` is the start of the file, or all of it, in memory that stays as it is meanwhile.
  HeaderBytes(std::span<const std::byte> head, std::uint64_t file_nbytes)
      : head_(head), file_nbytes_(file_nbytes), window_(head) {}
  virtual ~HeaderBytes() = default;
  HeaderBytes(const HeaderBytes&) = delete;
  HeaderBytes& operator=(const HeaderBytes&) = delete;

  std::span<const std::byte> head() const { return head_; }
  std::uint64_t file_nbytes() const { return file_nbytes_; }
  bool is_whole() const { return head_.size() == file_nbytes_; }

  // Bytes [offset, offset + n) of the file, and perhaps `ahead` bytes instead of n are read by the
  // way. They stay until the next call. Whoever asks for offsets that never decrease gets each byte
  // from one read. Throws FormatError if the file has become too short.
  std::span<const std::byte> read(std::uint64_t offset, std::size_t n, std::size_t ahead = 0) {
    const std::uint64_t begin = offset - window_begin_;
    const bool is_there =
        offset >= window_begin_ && begin <= window_.size() && n <= window_.size() - begin;
    if (!is_there) return move_window(offset, n, ahead);
    return window_.subspan(static_cast<std::size_t>(begin), n);
  }

  // Memory that what the last read() gave may lie in, for whoever needs it longer: it stays there.
  std::vector<std::byte> take_storage() {
    window_ = head_;
    window_begin_ = 0;
    return std::move(storage_);
  }

  // Whether the file still has all of its bytes.
  virtual bool has_all_bytes() = 0;

 protected:
  // Fills `buffer` from `offset` on, and returns how much of it: less where the file ends. Throws
  // SystemError.
  virtual std::size_t fetch(std::uint64_t offset, std::span<std::byte> buffer) = 0;

 private:
  std::span<const std::byte> move_window(std::uint64_t offset, std::size_t n, std::size_t ahead);

  const std::span<const std::byte> head_;
  const std::uint64_t file_nbytes_;
  std::span<const std::byte> window_;  // the head, or storage_
  std::uint64_t window_begin_ = 0;     // in the file
  std::vector<std::byte> storage_;
};

}  // namespace fastdump
