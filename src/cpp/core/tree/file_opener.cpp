#include "core/tree/file_opener.hpp"

namespace fastdump {

File FileOpener::open(std::size_t file) {
  const std::uint32_t directory = tree_.directory_index(file);
  const std::string& path = tree_.directory(file).path;
  if (path.empty()) return File(tree_.path(file, path_));
  if (opened_ != directory) {
    directory_ = File::directory(path.c_str());
    opened_ = directory;
  }
  // One that cannot be opened may hold files that can.
  if (directory_.error() != 0) return File(tree_.path(file, path_));
  path_.assign(tree_.name(file));
  return File(directory_, path_.c_str());
}

}  // namespace fastdump
