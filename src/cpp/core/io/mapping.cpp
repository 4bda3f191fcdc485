#include "core/io/mapping.hpp"

#include <algorithm>

#include "core/errors.hpp"

namespace fastdump {
namespace {

// A fault maps the pages around it too, up to 64 KiB on Linux. Dropping a range rounded outwards to
// that takes them along; a neighbour that still needs one faults again.
constexpr std::uint64_t kDropUnit = std::uint64_t{64} << 10;

}  // namespace

Mapping::Mapping(const File& file, std::size_t nbytes, Access access) : access_(access) {
  if (nbytes == 0) return;
  error_ =
      -retry_interrupted([&] { return system().map(file.descriptor(), nbytes, access, data_); });
  if (error_ == 0) nbytes_ = nbytes;
}

Mapping::~Mapping() {
  if (data_ != nullptr) system().unmap(data_, nbytes_);
}

void Mapping::drop(std::uint64_t offset, std::size_t nbytes) const {
  const std::uint64_t begin = offset / kDropUnit * kDropUnit;
  const std::uint64_t end =
      std::min<std::uint64_t>((offset + nbytes + kDropUnit - 1) / kDropUnit * kDropUnit, nbytes_);
  // Pages that the system keeps all the same cost memory, nothing else.
  if (end > begin) system().drop_pages(data_ + begin, end - begin);
}

std::unique_ptr<Mapping> map_file(const std::string& path, FileState expected, Access access) {
  const OpenFile open(path, expected);
  auto mapping = std::make_unique<Mapping>(open.file, open.size, access);
  if (mapping->error() != 0) throw SystemError(mapping->error(), path);
  return mapping;
}

}  // namespace fastdump
