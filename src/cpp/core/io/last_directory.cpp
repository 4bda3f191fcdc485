#include "core/io/last_directory.hpp"

#include "core/io/descriptors.hpp"

namespace fastdump {

std::optional<File> LastDirectory::open(std::string_view directory, const char* name) {
  if (path_ != directory) {
    path_ = directory;
    directory_ = File();
    directory_ = File::directory(path_->c_str());
  }
  int error = directory_.error();
  if (error == 0) {
    File opened(directory_, name);
    error = opened.error();
    if (!is_scarcity(error)) return opened;
  }
  if (is_scarcity(error)) {
    directory_ = File();
    path_.reset();
  }
  return {};
}

}  // namespace fastdump
