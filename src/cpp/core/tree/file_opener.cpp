#include "core/tree/file_opener.hpp"

#include "core/io/descriptors.hpp"

namespace fastdump {

File FileOpener::open(std::size_t file) {
  const std::uint32_t directory = tree_.directory_index(file);
  const std::string& path = tree_.directory(file).path;
  if (path.empty()) return File::wait_for(tree_.path(file, path_));
  if (opened_ != directory) {
    directory_ = File::directory(path.c_str());
    opened_ = directory;
  }
  // One that cannot be opened may hold files that can.
  if (directory_.error() == 0) {
    path_.assign(tree_.name(file));
    File opened(directory_, path_.c_str());
    if (!is_scarcity(opened.error())) return opened;
  }
  // Who waits for a descriptor must not keep others waiting for the directory's.
  if (directory_.error() == 0 || is_scarcity(directory_.error())) close_directory();
  return File::wait_for(tree_.path(file, path_));
}

void FileOpener::close_directory() {
  directory_ = File();
  opened_.reset();
}

}  // namespace fastdump
