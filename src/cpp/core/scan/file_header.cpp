#include "core/scan/file_header.hpp"

#include "core/errors.hpp"

namespace fastdump {

bool FileHeader::has_all_bytes() {
  const std::int64_t nbytes = file_.size();
  return nbytes >= 0 && static_cast<std::uint64_t>(nbytes) >= file_nbytes();
}

std::size_t FileHeader::fetch(std::uint64_t offset, std::span<std::byte> buffer) {
  has_fetched_ = true;
  const ReadResult read = read_at(file_, buffer, offset);
  if (read.error != 0) throw SystemError(read.error, {});
  return read.nbytes;
}

}  // namespace fastdump
