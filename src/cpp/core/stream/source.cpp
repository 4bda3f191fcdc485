#include "core/stream/source.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace fastdump {
namespace {

// Gathering touches pages all over a tensor, and each of them again and again. After so many bytes
// the pages are given back, which costs the next pieces a fault each.
constexpr std::uint64_t kMaxGatheredBytes = std::uint64_t{128} << 20;

}  // namespace

ReadResult Source::read(std::uint64_t offset, std::span<std::byte> buffer) const {
  ReadResult result;
  if (is_memory_ && has_lost_page_) return {0, EFAULT};
  if (offset < head_.size()) {
    result.nbytes = std::min<std::uint64_t>(buffer.size(), head_.size() - offset);
    std::memcpy(buffer.data(), head_.data() + offset, result.nbytes);
  }
  if (is_memory_ || result.nbytes == buffer.size()) return result;
  const ReadResult rest = read_at(file_, buffer.subspan(result.nbytes), offset + result.nbytes);
  return {result.nbytes + rest.nbytes, rest.error};
}

Source::Size Source::size() const {
  if (is_size_known_) return size_;
  // A call_once would be a system call for each file.
  const std::lock_guard lock(mutex_);
  if (is_size_known_) return size_;
  const std::int64_t found = file_.size();
  size_ = found < 0 ? Size{0, static_cast<int>(-found)} : Size{static_cast<std::uint64_t>(found)};
  is_size_known_ = true;
  return size_;
}

int Source::map() {
  if (is_memory()) return 0;
  if (size().error != 0) return size().error;
  if (has_tried_to_map_) return mapping_->error();
  // LLVM's call_once has one lock for all of the process. A child that is forked while a thread
  // holds it waits for it in vain.
  const std::lock_guard lock(mutex_);
  if (has_tried_to_map_) return mapping_->error();
  install_page_guard();
  mapping_ = std::make_unique<Mapping>(file_, static_cast<std::size_t>(size_.nbytes));
  is_mapped_ = mapping_->data() != nullptr;
  has_tried_to_map_ = true;
  return mapping_->error();
}

void Source::drop(std::uint64_t offset, std::uint64_t nbytes) const {
  if (is_mapped()) mapping_->drop(offset, static_cast<std::size_t>(nbytes));
}

bool Source::count_gathered(std::size_t nbytes) {
  const std::uint64_t before = gathered_nbytes_.fetch_add(nbytes);
  return (before + nbytes) / kMaxGatheredBytes != before / kMaxGatheredBytes;
}

View::View(Source& source, std::uint64_t offset, std::uint64_t nbytes) : source_(source) {
  const std::uint64_t source_nbytes = source.size().nbytes;
  if (offset > source_nbytes || nbytes > source_nbytes - offset) return;
  if (source.has_lost_page_.load() || source.map() != 0) return;
  if (!source.is_memory() && !source.is_mapped()) return;  // of an empty file
  data_ = source.place(offset);
  guard_.emplace(data_, static_cast<std::size_t>(nbytes), source.has_lost_page_);
}

bool View::close() {
  guard_.reset();
  if (!source_.has_lost_page_.load()) return data_ != nullptr;
  const std::int64_t size = source_.is_memory() ? -EFAULT : source_.file_.size();
  // A page that a file of the same size has lost could not be read.
  if (size < 0) {
    error_ = static_cast<int>(-size);
  } else if (static_cast<std::uint64_t>(size) >= source_.size().nbytes) {
    error_ = EIO;
  }
  return false;
}

}  // namespace fastdump
