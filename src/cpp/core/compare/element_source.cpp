#include "core/compare/element_source.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <utility>

#include "core/size.hpp"

namespace fastdump {

namespace {

// Gathering touches pages all over a tensor, and each of them again and again. After so many bytes
// they are given back, which costs the next pieces a fault each.
constexpr std::uint64_t kMaxGatheredBytes = std::uint64_t{128} << 20;

}  // namespace

const Mapping& SharedFile::mapping() {
  std::call_once(mapped_, [&] {
    const std::int64_t size = file_.size();
    mapping_ = std::make_unique<Mapping>(file_, size > 0 ? static_cast<std::size_t>(size) : 0);
  });
  return *mapping_;
}

MappedElements::MappedElements(SharedFile& file, std::uint64_t offset, std::size_t nbytes)
    : file_(file), offset_(offset), nbytes_(nbytes) {
  if (file_.lost.load()) return;
  const Mapping& mapping = file_.mapping();
  if (mapping.data() == nullptr || offset > mapping.nbytes() ||
      nbytes > mapping.nbytes() - offset) {
    return;
  }
  data_ = mapping.data() + offset;
  guard_.emplace(data_, nbytes, file_.lost);
}

bool MappedElements::are_whole() {
  guard_.reset();
  if (data_ == nullptr) return false;
  // Behind the end of a shrunken file the rest of its last page reads as zeros without a fault.
  const std::int64_t size = file_.file().size();
  if (size < 0 || static_cast<std::uint64_t>(size) < offset_ + nbytes_) return false;
  return !file_.lost.load();
}

bool MappedElements::release() {
  if (!are_whole()) return false;
  file_.mapping().drop(offset_, nbytes_);
  return true;
}

ElementSource::ElementSource(std::shared_ptr<SharedFile> file, std::uint64_t offset,
                             kernels::Element element,
                             std::shared_ptr<const LogicalElements> logical)
    : file_(std::move(file)), offset_(offset), element_(element), logical_(std::move(logical)) {
  if (logical_ != nullptr) install_page_guard();
}

std::size_t ElementSource::nbytes(std::size_t n) const {
  return packed_nbytes(n, kernels::element_bits(element_));
}

std::uint64_t ElementSource::offset_of(std::uint64_t first) const {
  return offset_ + first / 8 * static_cast<std::uint64_t>(kernels::element_bits(element_));
}

MissingElements ElementSource::missing(std::uint64_t n) const {
  const std::int64_t size = file_->file().size();
  if (size < 0) return {n, static_cast<int>(-size)};
  const auto nbytes = static_cast<std::uint64_t>(size);
  if (offset_ >= nbytes) return {n, 0};
  if (logical_ != nullptr) return {nbytes - offset_ < logical_->stored_nbytes() ? n : 0, 0};
  const auto bits = static_cast<std::uint64_t>(kernels::element_bits(element_));
  // Bytes of a file are few enough to be counted in bits.
  return {n - std::min(n, (nbytes - offset_) * 8 / bits), 0};
}

MappedElements ElementSource::map(std::uint64_t first, std::size_t n) const {
  assert(logical_ == nullptr);
  return {*file_, offset_of(first), nbytes(n)};
}

ReadElements ElementSource::read(std::uint64_t first, std::size_t n,
                                 std::span<std::byte> buffer) const {
  if (logical_ != nullptr && n != 0) return gather(first, n, buffer);
  const ReadResult read = read_at(file_->file(), buffer.first(nbytes(n)), offset_of(first));
  const auto bits = static_cast<std::size_t>(kernels::element_bits(element_));
  return {buffer.data(), std::min(n, read.nbytes * 8 / bits), read.error};
}

// All of them or none: those that are not there may be any.
ReadElements ElementSource::gather(std::uint64_t first, std::size_t n,
                                   std::span<std::byte> buffer) const {
  const Mapping& mapping = file_->mapping();
  if (mapping.error() != 0) return {buffer.data(), 0, mapping.error()};
  MappedElements stored(*file_, offset_, static_cast<std::size_t>(logical_->stored_nbytes()));
  if (stored.data() != nullptr) logical_->gather(stored.data(), first, n, buffer.data());
  if (stored.are_whole()) {
    const std::uint64_t before = file_->gathered_nbytes.fetch_add(nbytes(n));
    if ((before + nbytes(n)) / kMaxGatheredBytes != before / kMaxGatheredBytes) release();
    return {buffer.data(), n, 0};
  }
  const MissingElements lacking = missing(n);
  if (lacking.n != 0) return {buffer.data(), 0, lacking.error};
  // Another tensor's pages may be those that were lost, as the file became shorter; if it did not,
  // it was the device under it.
  const bool is_shorter = file_->file().size() < static_cast<std::int64_t>(mapping.nbytes());
  return {buffer.data(), 0, is_shorter ? 0 : EIO};
}

void ElementSource::release() const {
  if (logical_ == nullptr) return;
  file_->mapping().drop(offset_, static_cast<std::size_t>(logical_->stored_nbytes()));
}

}  // namespace fastdump
