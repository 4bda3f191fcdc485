#include "core/scan/describe_file.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>

#include "core/errors.hpp"
#include "core/formats/file_format.hpp"
#include "core/formats/file_name.hpp"
#include "core/io/file.hpp"
#include "core/scan/file_header.hpp"
#include "core/tree/walk.hpp"

namespace fastdump {
namespace {

constexpr std::size_t kHeadBytes = std::size_t{4} << 10;  // most headers are shorter

struct ToDumps {
  std::uint64_t file_nbytes;

  std::vector<FileDescription> operator()(DumpedTensors&& tensors) const {
    return std::move(tensors.dumps);
  }
  std::vector<FileDescription> operator()(StatisticsCsv&& csv) const {
    std::vector<FileDescription> dumps;
    dumps.push_back(describe_statistics(std::move(csv), file_nbytes));
    return dumps;
  }
  std::vector<FileDescription> operator()(Refusal&& refusal) const {
    throw FormatError(refusal.what, refusal.offset);
  }
};

}  // namespace

DescribedFile describe_file(const std::string& path) {
  const OpenFile open(path);
  std::vector<std::byte> head(kHeadBytes);
  const ReadResult read = read_at(open.file, head, 0);
  if (read.error != 0) throw SystemError(read.error, path);
  head.resize(read.nbytes);
  DescribedFile described;
  // Some files (of /proc) tell no size.
  described.nbytes = std::max<std::uint64_t>(open.size, head.size());
  FileHeader bytes(open.file, head, described.nbytes);
  std::vector<FileDescription> reused;
  FileContent content = describe_content(bytes, parse_file_name(find_real_name(path)), reused);
  open.require_unchanged(path);
  described.state = open.state;
  described.dumps = std::visit(ToDumps{described.nbytes}, std::move(content));
  return described;
}

}  // namespace fastdump
