#include "core/tree/file_opener.hpp"

#include <utility>

namespace fastdump {

File FileOpener::open(std::size_t file) {
  const std::string& directory = tree_.directory(file).path;
  if (!directory.empty()) {
    path_.assign(tree_.name(file));
    if (auto opened = last_.open(directory, path_.c_str())) return *std::move(opened);
  }
  return File::wait_for(tree_.path(file, path_));
}

}  // namespace fastdump
