// Where the elements of one tensor come from: an open file, mapped, read or, in a layout of the
// device's own, gathered. What it hands out is packed and in the order of the host; nobody else
// knows how elements lie in the file.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/io/file.hpp"
#include "core/io/mapping.hpp"
#include "core/io/page_guard.hpp"
#include "core/scan/logical_elements.hpp"
#include "kernels/element.hpp"

namespace fastdump {

// A file that several tensors and threads may share.
class SharedFile {
 public:
  explicit SharedFile(const std::string& path) : file_(path.c_str()) {}

  const File& file() const { return file_; }
  // Made when it is first asked for; its data() is nullptr if the system refuses.
  const Mapping& mapping();

  // A mapped page is gone: from now on the file is read.
  std::atomic<bool> lost = false;
  std::atomic<std::uint64_t> gathered_nbytes = 0;

 private:
  const File file_;
  std::once_flag mapped_;
  std::unique_ptr<Mapping> mapping_;
};

// Elements where they are mapped. Guarded while it lives, in the thread that made it.
class MappedElements {
 public:
  MappedElements(SharedFile& file, std::uint64_t offset, std::size_t nbytes);

  // nullptr: they have to be read.
  const std::byte* data() const { return data_; }
  // After the last look at them: whether all that was seen was the file's.
  bool are_whole();
  // The same; gives back the memory.
  bool release();

 private:
  SharedFile& file_;
  const std::uint64_t offset_;
  const std::size_t nbytes_;
  const std::byte* data_ = nullptr;
  std::optional<PageGuard> guard_;
};

// Elements in a buffer.
struct ReadElements {
  const std::byte* data = nullptr;
  std::size_t n = 0;  // fewer than asked for: the file ends, or error is set
  int error = 0;      // errno
};

struct MissingElements {
  std::uint64_t n = 0;
  int error = 0;  // errno; 0: the file ends

  void add(const MissingElements& other) {
    n += other.n;
    if (other.error != 0) error = other.error;
  }
};

class ElementSource {
 public:
  // `logical`: the host array's elements; nullptr: all, in the order in which they are stored.
  ElementSource(std::shared_ptr<SharedFile> file, std::uint64_t offset, kernels::Element element,
                std::shared_ptr<const LogicalElements> logical = nullptr);

  kernels::Element element() const { return element_; }
  std::size_t nbytes(std::size_t n) const;
  bool on_network() const { return is_on_network(file_->file()); }
  // Elements lie anywhere in the tensor: map() never has them, read() takes a mapping.
  bool is_gathered() const { return logical_ != nullptr; }

  // Which of all n elements the file is too short for. Gathered ones are all there or none is.
  MissingElements missing(std::uint64_t n) const;

  // Elements [first, first + n); `first` is a multiple of 8.
  MappedElements map(std::uint64_t first, std::size_t n) const;
  // As many of them as there are; `buffer` has room for all.
  ReadElements read(std::uint64_t first, std::size_t n, std::span<std::byte> buffer) const;
  // Gives back the memory that gathering has left mapped; after a pass over all elements.
  void release() const;

 private:
  std::uint64_t offset_of(std::uint64_t first) const;
  ReadElements gather(std::uint64_t first, std::size_t n, std::span<std::byte> buffer) const;

  std::shared_ptr<SharedFile> file_;
  std::uint64_t offset_;
  kernels::Element element_;
  std::shared_ptr<const LogicalElements> logical_;
};

}  // namespace fastdump
